// Swift compares texts by canonical equivalence, and sorts the combining marks of a character for it. The time grows with the square of
// their number: 0.2 s for 64 KB of marks. So a text that a client sent is compared, hashed and split by its bytes.

extension String {
    /// Whether both texts have the same UTF-8 bytes.
    public func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
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
