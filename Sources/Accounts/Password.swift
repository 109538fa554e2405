internal import Foundation

/// A password as a person typed it.
public struct Password: Sendable {
    /// The shortest and the longest password of a new account, in Unicode scalars.
    static let lengths = 8...256

    /// The UTF-8 bytes of the composed text (NFC), because keyboards compose letters in different ways. Source: RFC 8265, section 4.2.
    let utf8: [UInt8]
    /// In Unicode scalars of the composed text.
    let length: Int

    public init(_ text: String) {
        let composed = text.precomposedStringWithCanonicalMapping
        utf8 = Array(composed.utf8)
        length = composed.unicodeScalars.count
    }
}

extension Password: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Password(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
