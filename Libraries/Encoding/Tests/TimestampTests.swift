import TestChance
import Testing

@testable import Encoding

@Suite struct `Writing a timestamp` {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_379_289_600_000, "2013-09-16T00:00:00.000Z"),
            (1_379_289_600_007, "2013-09-16T00:00:00.007Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `a timestamp is written in UTC with exactly three decimals and a Z`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test func `a written timestamp reads back as the same moment`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let range = Timestamp.earliest.milliseconds...Timestamp.latest.milliseconds
            let timestamp = Timestamp(milliseconds: Int64.random(in: range, using: &generator))
            try #require(Timestamp(rfc3339: timestamp.description) == timestamp)
        }
    }
}

@Suite struct `Reading a time in RFC 3339` {
    @Test(arguments: [
        ("2013-09-16T00:00:00Z", "2013-09-16T00:00:00.000Z"),
        ("2013-09-16t12:34:56z", "2013-09-16T12:34:56.000Z"),
        ("2013-09-16 12:34:56Z", "2013-09-16T12:34:56.000Z"),
        ("2013-09-16T02:30:00+02:30", "2013-09-16T00:00:00.000Z"),
        ("2013-09-15T17:00:00.250-07:00", "2013-09-16T00:00:00.250Z"),
        ("2013-09-16T00:00:00+00:00", "2013-09-16T00:00:00.000Z"),
        ("2013-09-16T00:00:00-00:00", "2013-09-16T00:00:00.000Z"),
        ("2013-09-16T23:59:00+23:59", "2013-09-16T00:00:00.000Z"),
        ("2012-12-31T22:00:00-03:00", "2013-01-01T01:00:00.000Z"),
        // A leap second is the second after it.
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"), ("2012-07-01T05:29:60+05:30", "2012-07-01T00:00:00.000Z"),
        ("2016-12-31T15:59:60.5-08:00", "2017-01-01T00:00:00.500Z"),
    ])
    func `a time of any offset is converted to UTC`(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test(arguments: [
        (".5", ".500"), (".05", ".050"), (".123", ".123"), (".0009", ".000"), (".9999", ".999"),
        (".123456789012345678901234567890", ".123"),
    ])
    func `a fraction is truncated to milliseconds`(fraction: String, expected: String) {
        #expect(Timestamp(rfc3339: "2013-09-16T00:00:00\(fraction)Z")?.description == "2013-09-16T00:00:00\(expected)Z")
        #expect(Timestamp(rfc3339: "1969-12-31T23:59:59\(fraction)Z")?.description == "1969-12-31T23:59:59\(expected)Z")
    }

    @Test func `29 February is accepted in leap years only`() {
        for year in ["0000", "0004", "1600", "2000", "2024", "9996"] {
            #expect(Timestamp(rfc3339: "\(year)-02-29T00:00:00Z")?.description == "\(year)-02-29T00:00:00.000Z")
            #expect(Timestamp(rfc3339: "\(year)-02-30T00:00:00Z") == nil)
        }
        for year in ["0001", "0100", "1900", "2023", "2100", "9999"] {
            #expect(Timestamp(rfc3339: "\(year)-02-29T00:00:00Z") == nil)
        }
    }

    @Test func `the days of all years from 0000 to 9999 are counted correctly`() throws {
        var days: Int64 = -719_528  // from 1970-01-01 back to 0000-01-01
        for year in 0...9_999 {
            let digits = String(repeating: "0", count: 4 - String(year).count) + String(year)
            try #require(Timestamp(rfc3339: "\(digits)-01-01T00:00:00Z")?.milliseconds == days * 86_400_000, "\(year)")
            let isLeapYear = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
            days += isLeapYear ? 366 : 365
            try #require(Timestamp(rfc3339: "\(digits)-12-31T00:00:00Z")?.milliseconds == (days - 1) * 86_400_000, "\(year)")
        }
    }

    @Test func `the days of all months are counted correctly`() throws {
        var days: Int64 = 15_706  // from 1970-01-01 to 2013-01-01
        for (index, length) in [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
            let month = (index < 9 ? "0" : "") + String(index + 1)
            #expect(Timestamp(rfc3339: "2013-\(month)-01T00:00:00Z")?.milliseconds == days * 86_400_000)
            days += Int64(length)
            #expect(Timestamp(rfc3339: "2013-\(month)-\(length)T00:00:00Z")?.milliseconds == (days - 1) * 86_400_000)
            #expect(Timestamp(rfc3339: "2013-\(month)-\(length + 1)T00:00:00Z") == nil)
        }
    }

    @Test func `the years 0000 to 9999 of UTC are accepted, and no others`() {
        #expect(Timestamp(rfc3339: "0000-01-01T00:00:00Z") == Timestamp.earliest)
        #expect(Timestamp(rfc3339: "9999-12-31T23:59:59.999Z") == Timestamp.latest)
        #expect(Timestamp(rfc3339: "0000-01-01T00:00:59+00:01") == nil)
        #expect(Timestamp(rfc3339: "9999-12-31T23:59:00-00:01") == nil)
        #expect(Timestamp(rfc3339: "9999-12-31T23:59:60Z") == nil)
    }

    @Test(arguments: [
        "", "tomorrow", "2013-09-16", "2013-09-16T00:00:00", "2013-09-16T00:00Z", "2013-09-16T00:00:00.Z",
        "2013-09-16T00:00:00,5Z",
        "2013-09-16T24:00:00Z", "2013-09-16T00:60:00Z", "2013-09-16T00:00:61Z", "2030-09-14T12:00:60Z", "2030-09-30T23:59:60Z",
        "2016-12-31T23:58:60Z", "2016-12-31T23:59:60+01:00", "2016-12-30T23:59:60Z", "2013-00-16T00:00:00Z",
        "2013-13-16T00:00:00Z",
        "2013-09-00T00:00:00Z", "2013-09-31T00:00:00Z", "2013-9-16T00:00:00Z", "13-09-16T00:00:00Z", "02013-09-16T00:00:00Z",
        "-013-09-16T00:00:00Z", "+2013-09-16T00:00:00Z", "2013-09-16T00:00:00+0200", "2013-09-16T00:00:00+02",
        "2013-09-16T00:00:00+24:00",
        "2013-09-16T00:00:00+00:60", "2013-09-16T00:00:00 Z", " 2013-09-16T00:00:00Z", "2013-09-16T00:00:00Z ",
        "2013-09-16T00:00:00ZZ",
        "2013-09-16_00:00:00Z", "2013/09/16T00:00:00Z", "20130916T000000Z", "201309-16T00:00:00Z", "2013-0916T00:00:00Z",
        "2013-09-16T0000:00Z", "2013-09-16T00:0000Z", "1379289600", "２０１３-09-16T00:00:00Z",
        "2013-09-16T00:00:00Z\u{301}", "2013-09-16T00:00:00Z\0",
    ])
    func `a text that is not a time in RFC 3339 is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}

@Suite struct `Reading times of clients` {
    @Test(arguments: [
        "2014-04-16T17:13:47Z", "2014-04-16 17:13:47 UTC", "2014-04-16 17:13:47 GMT", "2014-04-16 17:13:47UTC",
        "2014-04-16 17:13:47 +0000", "2014-04-16 19:13:47 +0200", "2014-04-16T19:13:47+0200", "2014-04-16 12:43:47 -04:30",
        "2014-04-16 17:13:47 Z", "2014-04-16 17:13:47.000 UTC",
    ])
    func `the forms of Ruby and Foundation are the same moment as in RFC 3339`(text: String) {
        #expect(Timestamp(parsing: text)?.description == "2014-04-16T17:13:47.000Z")
    }

    @Test(arguments: [
        "", "2014-04-16", "2014-04-16 17:13:47", "2014-04-16T17:13:47", "2014-04-16 17:13:47 ", "2014-04-16 17:13:47  UTC",
        "2014-04-16 17:13:47 utc", "2014-04-16 17:13:47 CET", "2014-04-16 17:13:47 UTCX", "2014-04-16 17:13:47 UTC ",
        "2014-04-16 17:13:47 +02", "2014-04-16 17:13:47 +2400", "2014-04-16 17:13 UTC", "2014-04-31 17:13:47 UTC",
    ])
    func `a text without an offset or with another form is refused`(text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }
}

@Suite struct `Comparing and limiting timestamps` {
    @Test(arguments: [
        (Int64.min, "0000-01-01T00:00:00.000Z"), (Timestamp.earliest.milliseconds - 1, "0000-01-01T00:00:00.000Z"),
        (Timestamp.latest.milliseconds + 1, "9999-12-31T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
    ])
    func `a timestamp outside the years of RFC 3339 is written as the nearest moment in them`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test func `timestamps are ordered by time`() {
        #expect(Timestamp(milliseconds: -1) < Timestamp(milliseconds: 0))
        #expect(Timestamp.earliest < Timestamp.latest)
        #expect(!(Timestamp(milliseconds: 1) < Timestamp(milliseconds: 1)))
    }
}
