public import Encoding
internal import Foundation

/// A password as a person typed it.
public struct Password: Sendable, Redacted {
    /// The shortest and the longest password of a new account, in Unicode scalars of the composed text.
    static let lengths = 8...256
    /// The longest text that is composed, in Unicode scalars: a longer one is too long in every composition. Four scalars compose into
    /// one at most. Source: Unicode Standard Annex #15, section 12.
    static let typedLimit = 4 * lengths.upperBound
    /// The same in bytes: a scalar has four bytes of UTF-8 at most.
    private static let typedLimitBytes = 4 * typedLimit

    /// The UTF-8 bytes of the composed text (NFC), because keyboards compose letters in different ways. Source: RFC 8265, section 4.2.
    let utf8: [UInt8]
    /// In Unicode scalars of the composed text.
    let length: Int

    /// Composing sorts combining marks, in a time that grows with the square of their number. So the length is checked before.
    /// - Returns: `nil` for a text that is longer than any password of an account
    public init?(_ text: String) {
        guard text.utf8.count <= Self.typedLimitBytes, text.unicodeScalars.count <= Self.typedLimit else { return nil }
        let composed = text.precomposedStringWithCanonicalMapping
        utf8 = Array(composed.utf8)
        length = composed.unicodeScalars.count
        guard length <= Self.lengths.upperBound else { return nil }
    }
}
