public import Encoding

/// An e-mail address in its normal form: in lower case, without white space at its ends. Two spellings of one address are equal.
public struct EmailAddress: Sendable, Hashable, Redacted {
    /// The longest address, in bytes. Source: RFC 5321, section 4.5.3.1.3, without the angle brackets.
    static let lengthLimit = 254

    /// The normal form, for no log, error or trace.
    let text: String

    /// - Returns: `nil` unless the text is two parts of visible ASCII characters around one `@`
    public init?(_ typed: String) {
        // Keyboards of phones add a space behind a completed address.
        let trimmed = typed.utf8.drop { $0.isSpace }.reversed().drop { $0.isSpace }.reversed()
        let isVisible = trimmed.allSatisfy { (0x21...0x7E).contains($0) }
        let parts = trimmed.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard isVisible, trimmed.count <= Self.lengthLimit, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        text = String(decoding: trimmed, as: UTF8.self).lowercased()
    }

    /// Reads a stored address; `nil` for a text that is not in normal form.
    init?(stored text: String) {
        self.init(text)
        guard self.text == text else { return nil }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
