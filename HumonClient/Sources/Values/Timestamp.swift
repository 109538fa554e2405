public import Foundation

/// The notation of times in the API: RFC 3339 in UTC, with three decimals.
enum Timestamp {
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// The first moments of the years 0000 and 10000, in milliseconds since 1970.
    private static let range: Range<Double> = -62_167_219_200_000..<253_402_300_800_000

    /// Rounds to the next millisecond.
    /// - Returns: `nil` for a time outside of the years 0 to 9999, which has no notation
    static func text(of date: Date) -> String? {
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        guard range.contains(rounded) else { return nil }
        let total = Int64(rounded)
        let (days, rest) = total.dividedFlooring(by: millisecondsPerDay)
        let (year, month, day) = civil(days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1_000 % 60, 2))"
        return "\(date)T\(time).\(padded(rest % 1_000, 3))Z"
    }

    /// `nil` if the text is not of the form `2030-09-14T00:00:00.000Z`.
    static func date(of text: String) -> Date? {
        let bytes = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00.000Z".utf8)
        let zero = UInt8(ascii: "0")
        guard bytes.count == form.count else { return nil }
        for (byte, expected) in zip(bytes, form) {
            guard expected == zero ? (zero...(zero + 9)).contains(byte) : byte == expected else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - zero) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 60 else { return nil }
        let days = daysSince1970(year, month, day)
        // The 30th of February is the 1st of March.
        guard civil(days) == (year, month, day) else { return nil }
        let milliseconds = days * millisecondsPerDay + hour * 3_600_000 + minute * 60_000 + second * 1_000 + number(20..<23)
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*: years begin in March, eras have 400 years.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedFlooring(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).dividedFlooring(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func dividedFlooring(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// The events that overlap a window of time. An event without an end lasts three hours. A date outside of
/// the years 0 to 9999 counts as none.
public struct TimeWindow: Sendable, Hashable {
    /// Events that ended before this moment are left out.
    public var from: Date?
    /// Events that start after this moment are left out. Not before `from`.
    public var to: Date?

    /// Any time.
    public static let always = TimeWindow()

    public init(from: Date? = nil, to: Date? = nil) {
        self.from = from
        self.to = to
    }

    var query: [(name: String, value: String)] {
        [("from", from), ("to", to)].compactMap { name, date in
            date.flatMap { Timestamp.text(of: $0) }.map { (name, $0) }
        }
    }

    /// The window, and further conditions on the events.
    func query(_ words: String?, _ category: String?) -> [(name: String, value: String)] {
        query + [("q", words), ("category", category)].compactMap { name, text in text.map { (name, $0) } }
    }
}
