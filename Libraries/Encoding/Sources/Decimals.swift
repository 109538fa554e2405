extension Double {
    /// The number with a point and so many decimals, rounded and without an exponent: `-33.86000`. Never `-0`.
    /// - Precondition: 18 digits hold the number
    public func text(decimals: Int) -> String {
        let unit = (0..<decimals).reduce(Int64(1)) { unit, _ in unit * 10 }
        let count = Int64((magnitude * Double(unit)).rounded())
        return "\(self < 0 && count > 0 ? "-" : "")\(count / unit).\(String(unit + count % unit).dropFirst())"
    }
}
