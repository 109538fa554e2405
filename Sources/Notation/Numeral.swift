extension Double {
    /// A decimal number as JSON, a form or a query writes it; infinite where it is beyond a `Double`, nil where it is none.
    ///
    /// Spaces around it and a leading plus are let pass; `nan`, `inf` and hexadecimal digits, which Swift would read, are not.
    public init?(numeral: String) {
        let trimmed = numeral.trimmingSpaces
        let allowed = trimmed.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
            case _: false
            }
        }
        guard allowed, let value = Double(trimmed) else { return nil }
        self = value
    }
}

extension Int64 {
    /// A whole number as JSON, a form, a query or a path writes it; nil where it is none or does not fit.
    public init?(numeral: String) {
        guard let value = Int64(numeral.trimmingSpaces) else { return nil }
        self = value
    }
}

extension String {
    /// Itself, mostly.
    fileprivate var trimmingSpaces: String {
        let space = UInt8(ascii: " ")
        guard utf8.first == space || utf8.last == space else { return self }
        return String(decoding: utf8.drop { $0 == space }.reversed().drop { $0 == space }.reversed(), as: UTF8.self)
    }
}
