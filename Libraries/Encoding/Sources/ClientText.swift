// Swift compares texts by canonical equivalence, and sorts the combining marks of a character for it. The time grows with the square of
// their number: 0.2 s for 64 KB of marks. So a text that a client sent is compared, hashed and split by its bytes.

extension String {
    /// Whether both texts have the same UTF-8 bytes.
    public func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// The text with an escape in place of some of its bytes. Replacing a sign as a `Character` would pass over one that a mark beside it joins
    /// to a larger character.
    /// - Parameter escape: returns `nil` for a byte that stays; every byte of a character outside of ASCII does
    public func escaping(_ escape: (UInt8) -> String?) -> String {
        guard utf8.contains(where: { escape($0) != nil }) else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 32)
        for byte in utf8 {
            if let escaped = escape(byte) { bytes.append(contentsOf: escaped.utf8) } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The parts between the separators, empty ones too.
    /// - Parameters:
    ///   - separator: an ASCII character
    ///   - limit: maximum number of parts; the last of them has the rest of the text
    public func parts(separatedBy separator: Unicode.Scalar, atMost limit: Int = .max) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: limit - 1, omittingEmptySubsequences: false).map {
            Substring($0)
        }
    }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    @inlinable
    public var isLetterOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
