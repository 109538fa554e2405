internal import Encoding
internal import Foundation

extension JSON {
    /// The text for people, in which no stored text can change a terminal.
    /// - Parameter name: of the member. Its last word is the unit of a number.
    func readable(as name: String = "") -> String {
        let unit = name.split(separator: "_").last ?? ""
        return switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .string(let text): harmless(unit == "at" ? text.replacing("T", with: " ") : text)
        case .number(let digits): Figure.text(digits, unit: unit)
        case .array, .object: harmless(self.text)
        }
    }
}

/// Numbers as people read them.
enum Figure {
    /// A number without a unit stays as it is, because a command may want it: a position, an id.
    fileprivate static func text(_ digits: String, unit: Substring) -> String {
        switch unit {
        case "bytes": Int64(digits).map { size(bytes: $0) } ?? digits
        case "seconds": Double(digits).map { duration(seconds: $0) } ?? digits
        case "second", "day": Double(digits).map { decimal($0) } ?? digits
        default: digits
        }
    }

    /// `1234567` as `1,234,567`.
    static func grouped(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + text
    }

    /// In decimal units, as disks are sold: `1.5 kB`.
    static func size(bytes: Int64) -> String {
        guard bytes.magnitude >= 1_000 else { return "\(bytes) B" }
        var (value, units) = (Double(bytes) / 1_000, ["kB", "MB", "GB", "TB"][...])
        while abs(value) >= 999.95, units.count > 1 { (value, units) = (value / 1_000, units.dropFirst()) }
        return String(format: "%.1f ", value) + (units.first ?? "")
    }

    /// About three digits: the figures are not more precise.
    private static func decimal(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case ..<0.1: String(format: "%.3f", value)
        case ..<100: String(format: "%.1f", value)
        case _: grouped(Int64(min(max(value.rounded(), -9e18), 9e18)))
        }
    }

    static func duration(seconds: Double) -> String {
        switch abs(seconds) {
        case ..<0.9995: return String(format: "%.1f ms", seconds * 1_000)
        case ..<59.95: return String(format: "%.1f s", seconds)
        case _: break
        }
        let whole = Int64(min(max(seconds.rounded(), -9e18), 9e18))
        let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60)
        if days != 0 { return "\(days) d \(hours) h" }
        return hours != 0 ? "\(hours) h \(minutes) min" : "\(minutes) min \(whole % 60) s"
    }
}

/// Stored text comes from outside: a terminal must not obey it.
func harmless(_ text: String) -> String { text.escapingControlCharacters }
