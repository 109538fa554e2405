extension UInt32 {
    /// Eight letters from a to p, four bits each: a text without a digit.
    public var letters: String {
        String(decoding: (0..<8).map { UInt8(ascii: "a") + UInt8(self >> (28 - 4 * $0) & 0xF) }, as: UTF8.self)
    }

    /// Reads ``letters``; `nil` for another text.
    public init?(letters: some StringProtocol) {
        guard letters.utf8.count == 8, letters.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "p")).contains($0) }) else {
            return nil
        }
        self = letters.utf8.reduce(0) { $0 << 4 | UInt32($1 - UInt8(ascii: "a")) }
    }
}
