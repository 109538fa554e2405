internal import Encoding
internal import EventStore
internal import Foundation

extension ReportValue {
    /// The text for people. Stored data can contain control characters: see ``harmless(_:)``.
    func text(in zone: TimeZone) -> String {
        switch self {
        case .none, .json(.null): ""
        case .text(let text), .state(_, let text), .json(.string(let text)): text
        case .flag(let value): value ? "yes" : "no"
        case .number(let value): String(value)
        case .count(let value): Figure.grouped(value)
        case .bytes(let value): Figure.size(bytes: value)
        case .rate(let value): value.isFinite ? Figure.decimal(value) : ""
        case .seconds(let value): value.isFinite ? Figure.duration(seconds: value) : ""
        case .time(let time): time.text(in: zone)
        case .json(let json): json.text
        }
    }
}

extension ReportColumn.Kind {
    /// Whether a narrow column may show a part of the text. A part of a number or of a time would be wrong.
    var isCuttable: Bool {
        switch self {
        case .text, .json, .state: true
        case .flag, .number, .count, .bytes, .rate, .seconds, .time: false
        }
    }

    /// Numbers are aligned to the right of their column.
    var isNumeric: Bool {
        switch self {
        case .number, .count, .bytes, .rate, .seconds: true
        case .text, .flag, .time, .json, .state: false
        }
    }
}

/// Numbers as people read them.
enum Figure {
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
    fileprivate static func decimal(_ value: Double) -> String {
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

extension Timestamp {
    /// `2026-11-21 16:43:36.123Z`, or with the zone's offset at that moment.
    func text(in zone: TimeZone) -> String {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
        let text = Timestamp(milliseconds: milliseconds + Int64(offset) * 1_000).description.replacing("T", with: " ")
        guard zone != .gmt else { return text }
        let minutes = abs(offset) / 60
        return text.dropLast() + String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", minutes / 60, minutes % 60)
    }
}

/// Stored text comes from outside: a terminal must not obey it.
func harmless(_ text: String) -> String { text.escapingControlCharacters }
