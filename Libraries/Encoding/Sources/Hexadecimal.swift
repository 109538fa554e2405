extension Sequence<UInt8> {
    /// Two lower-case digits a byte.
    public var hexadecimal: String {
        let digits = flatMap { [$0 >> 4, $0 & 0xF].map { $0 < 10 ? UInt8(ascii: "0") + $0 : UInt8(ascii: "a") + $0 - 10 } }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Whether the text consists of that many hexadecimal digits, all of them lower-case. A regular expression would be compiled anew
    /// for each text.
    public func isHexadecimal(digits: Int) -> Bool {
        utf8.count == digits
            && utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
