extension Double {
    /// A decimal number as JSON, a form or a query writes it; infinite where it is beyond a `Double`, nil where it is none.
    ///
    /// Spaces around it and a leading plus are let pass; `nan`, `inf` and hexadecimal digits, which Swift would read, are not.
    public init?(parsing text: String) {
        if let value = Self(fewDigits: text) {
            self = value
            return
        }
        let trimmed = text.trimmingSpaces
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

extension Double {
    /// 15 digits at most with a point between them or none, as coordinates are; nil for anything else. Their whole number and the
    /// power of ten are exact, so that only the quotient is rounded, and rightly. Source: Clinger, *How to Read Floating Point
    /// Numbers Accurately*, PLDI 1990.
    private init?(fewDigits text: String) {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard (1...16).contains(digits.count), digits.first != UInt8(ascii: "."), digits.last != UInt8(ascii: ".") else {
            return nil
        }
        var (whole, behindPoint): (Int64, Int?) = (0, nil)
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                whole = whole * 10 + Int64(byte - UInt8(ascii: "0"))
                behindPoint? += 1
            case UInt8(ascii: ".") where behindPoint == nil: behindPoint = 0
            case _: return nil
            }
        }
        guard digits.count < 16 || behindPoint != nil else { return nil }
        let magnitude = Double(whole) / Self.powersOfTen[behindPoint ?? 0]
        self = digits.count < text.utf8.count ? -magnitude : magnitude
    }

    private static let powersOfTen = (0..<15).map { (0..<$0).reduce(1.0) { power, _ in power * 10 } }
}

extension Int64 {
    /// A whole number as JSON, a form, a query or a path writes it; nil where it is none or does not fit.
    public init?(parsing text: String) { self.init(text.trimmingSpaces) }
}

extension String {
    /// Itself, mostly.
    fileprivate var trimmingSpaces: String {
        let space = UInt8(ascii: " ")
        guard utf8.first == space || utf8.last == space else { return self }
        return String(decoding: utf8.drop { $0 == space }.reversed().drop { $0 == space }.reversed(), as: UTF8.self)
    }
}
