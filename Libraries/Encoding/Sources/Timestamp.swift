/// A moment in UTC, to the millisecond.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Since 1970-01-01T00:00:00Z, leap seconds not counted.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with exactly three decimals and `Z`: `2013-09-16T00:00:00.000Z`.
    ///
    /// RFC 3339 has the years 0000 to 9999 only: a moment before or after them is written as ``earliest`` or ``latest``.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        write(into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of the description.
    func write(into text: inout [UInt8]) {
        let milliseconds = min(max(milliseconds, Self.earliest.milliseconds), Self.latest.milliseconds)
        let days = milliseconds.flooredQuotient(by: 86_400_000)
        let ofDay = milliseconds - days * 86_400_000
        let (year, month, day) = civilDate(daysSinceEpoch: days)
        // On the stack: written in the array, each digit is checked, and the text takes twice as long.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { digits in
            func put(_ value: Int64, _ places: Range<Int>, then mark: Unicode.Scalar) {
                var rest = UInt64(value)
                for place in places.reversed() {
                    unsafe digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                unsafe digits[places.upperBound] = UInt8(ascii: mark)
            }
            put(year, 0..<4, then: "-")
            put(month, 5..<7, then: "-")
            put(day, 8..<10, then: "T")
            put(ofDay / 3_600_000, 11..<13, then: ":")
            put(ofDay / 60_000 % 60, 14..<16, then: ":")
            put(ofDay / 1_000 % 60, 17..<19, then: ".")
            put(ofDay % 1_000, 20..<23, then: "Z")
            unsafe text.append(contentsOf: digits)
        }
    }
}

extension Timestamp {
    /// Any RFC 3339 date-time; nil for anything else.
    ///
    /// Offsets are turned into UTC, fractions of any length are cut to the millisecond, and a leap second is the second after
    /// it. A second of 60 is only read where leap seconds are: at the end of June or December in UTC (section 5.7). A moment that UTC would write with a year outside 0000–9999 is refused, since it could not be written back.
    public init?(rfc3339 text: String) {
        self.init(text) { $0.offset() }
    }

    /// Any RFC 3339 date-time, and the forms in which Ruby and Foundation write a time: `2014-04-16 17:13:47 UTC` and
    /// `2014-04-16 17:13:47 +0200`. A time without an offset is nil, since it names no moment.
    public init?(parsing text: String) {
        self.init(text) { $0.namedOrShortOffset() }
    }

    private init?(_ text: String, _ readOffset: (inout DigitReader) -> Int64?) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2),
            reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2), reader.take(":"),
            let second = reader.number(digits: 2),
            let fraction = reader.fraction(),
            let offsetMinutes = readOffset(&reader), reader.isAtEnd,
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
        guard second < 60 || isBehindLeapSecond(seconds) else { return nil }
        self.init(milliseconds: seconds * 1_000 + fraction)
        guard (Self.earliest...Self.latest).contains(self) else { return nil }
    }

    /// 0000-01-01T00:00:00.000Z
    public static let earliest = Timestamp(milliseconds: -62_167_219_200_000)
    /// 9999-12-31T23:59:59.999Z
    public static let latest = Timestamp(milliseconds: 253_402_300_799_999)
}

private struct DigitReader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Milliseconds; 0 where no fraction is written, nil where a point has no digit after it.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in 0..<max(0, 3 - count) { value *= 10 }
        return value
    }

    /// Minutes east of UTC, behind a space or not, with or without a colon, or the name of UTC.
    mutating func namedOrShortOffset() -> Int64? {
        _ = take(" ")
        for name in ["UTC", "GMT"] where bytes[position...].elementsEqual(name.utf8) {
            position += name.utf8.count
            return 0
        }
        return offset(needsColon: false)
    }

    /// Minutes east of UTC.
    mutating func offset(needsColon: Bool = true) -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), take(":") || !needsColon, let minutes = number(digits: 2), hours < 24, minutes < 60
        else {
            return nil
        }
        return sign * (hours * 60 + minutes)
    }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else { return nil }
        defer { position += 1 }
        return Int64(bytes[position] - UInt8(ascii: "0"))
    }
}

/// Whether the seconds since 1970 begin the first day of July or January.
private func isBehindLeapSecond(_ seconds: Int64) -> Bool {
    let days = seconds.flooredQuotient(by: 86_400)
    let (_, month, day) = civilDate(daysSinceEpoch: days)
    return days * 86_400 == seconds && (month == 7 || month == 1) && day == 1
}

private func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    case _: 31
    }
}

/// Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `days_from_civil`.
private func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredQuotient(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
}

/// Source: the same, `civil_from_days`.
private func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
