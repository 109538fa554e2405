import Encoding
import Foundation
import Postgres
import Testing

@Suite struct `Values come back as sent, and PostgreSQL reads them the same way` {
    @Test func `booleans come back unchanged`() async throws { try await expectRoundTrip([(true, "true"), (false, "false")]) }

    @Test func `16-bit integers come back up to their extremes`() async throws {
        try await expectRoundTrip([(Int16(0), "0"), (-1, "-1"), (.min, "-32768"), (.max, "32767")])
    }

    @Test func `32-bit integers come back up to their extremes`() async throws {
        try await expectRoundTrip([(Int32(0), "0"), (-1, "-1"), (.min, "-2147483648"), (.max, "2147483647")])
    }

    @Test func `64-bit integers come back up to their extremes`() async throws {
        try await expectRoundTrip([
            (Int64(0), "0"), (-1, "-1"), (.min, "-9223372036854775808"), (.max, "9223372036854775807"),
        ])
    }

    @Test func `doubles come back up to their extremes`() async throws {
        try await expectRoundTrip([
            (0.0, "0"), (0.1, "0.1"), (-2.5, "-2.5"), (1e22, "1e+22"),
            (Double.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"),
            (.infinity, "Infinity"), (-.infinity, "-Infinity"),
        ])
    }

    @Test func `NaN and negative zero come back`() async throws {
        try await withClient { client in
            let rows = try await client.query("SELECT \(Double.nan)::text, \(Double.nan), \(-0.0)::text, \(-0.0)")
                .decode((String, Double, String, Double).self)
            let row = try #require(rows.first)
            #expect(row.0 == "NaN")
            #expect(row.1.isNaN)
            #expect(row.2 == "-0")
            #expect(row.3.sign == .minus)
        }
    }

    @Test func `text comes back, empty or of any Unicode plane`() async throws {
        let texts = ["", " ", "tea", "'", "\"", "\\", "$1", "é e\u{301}", "日本語", "👩‍👩‍👧‍👦", "a\nb\tc\r", "\u{1}\u{7F}\u{10FFFF}"]
        try await expectRoundTrip(texts.map { ($0, $0) })
    }

    @Test func `text longer than any buffer comes back`() async throws {
        let long = String(repeating: "0123456789", count: 300_000)
        try await expectRoundTrip([(long, long)])
    }

    @Test func `text with a NUL, which PostgreSQL does not store, is refused`() async throws {
        try await withClient { client in
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT \("a\0b")") }
            #expect(error?.sqlState == SQLState(rawValue: "22021"))
        }
    }

    @Test func `bytes come back, empty or all 256`() async throws {
        let all = Bytea(bytes: UInt8.min...UInt8.max)
        try await expectRoundTrip([
            (Bytea(bytes: []), "\\x"), (Bytea(bytes: [0]), "\\x00"), (Bytea(bytes: [0, 255, 39, 92]), "\\x00ff275c"),
            (all, "\\x" + all.bytes.map { String(format: "%02x", $0) }.joined()),
        ])
    }

    @Test func `UUIDs come back unchanged`() async throws {
        let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let mixed = try #require(UUID(uuidString: "01234567-89AB-CDEF-FEDC-BA9876543210"))
        try await expectRoundTrip([
            (zero, "00000000-0000-0000-0000-000000000000"), (mixed, "01234567-89ab-cdef-fedc-ba9876543210"),
        ])
    }

    @Test func `times from the year 0 to the year 9999 come back`() async throws {
        let moments = [
            ("0000-01-01T00:00:00.000Z", "0001-01-01 00:00:00+00 BC"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31 23:59:59.999+00"),
            ("1970-01-01T00:00:00.000Z", "1970-01-01 00:00:00+00"),
            ("1999-12-31T23:59:59.999Z", "1999-12-31 23:59:59.999+00"),
            ("2000-01-01T00:00:00.000Z", "2000-01-01 00:00:00+00"),
            ("2024-02-29T12:34:56.789Z", "2024-02-29 12:34:56.789+00"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999+00"),
        ]
        try await expectRoundTrip(try moments.map { (try #require(Timestamp(rfc3339: $0.0)), $0.1) })
    }

    @Test func `PostgreSQL's microseconds are truncated to milliseconds, before 2000 too`() async throws {
        try await withClient { client in
            let texts = ["1999-12-31T23:59:59.9995Z", "1969-12-31T23:59:59.9999Z", "2024-02-29T00:00:00.0009Z"]
            let read = try await client.query("SELECT unnest(\(texts))::timestamptz").column(Timestamp.self)
            #expect(
                read.map(\.description) == [
                    "1999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z", "2024-02-29T00:00:00.000Z",
                ])
        }
    }

    @Test func `NULL of every type comes back`() async throws {
        try await withClient { client in
            let rows = try await client.query(
                """
                SELECT \(nil as Bool?), \(nil as Int16?), \(nil as Int32?), \(nil as Int64?), \(nil as Double?), \(nil as String?), \
                \(nil as Bytea?), \(nil as UUID?), \(nil as Timestamp?), \(nil as [Int64]?) IS NULL
                """
            ).decode((Bool?, Int16?, Int32?, Int64?, Double?, String?, Bytea?, UUID?, Timestamp?, Bool).self)
            let row = try #require(rows.first)
            #expect(row.0 == nil)
            #expect(row.1 == nil)
            #expect(row.2 == nil)
            #expect(row.3 == nil)
            #expect(row.4 == nil)
            #expect(row.5 == nil)
            #expect(row.6 == nil)
            #expect(row.7 == nil)
            #expect(row.8 == nil)
            #expect(row.9)
        }
    }

    @Test func `an optional with a value is sent as its value`() async throws {
        try await expectRoundTrip([(Optional("tea"), "tea"), (Optional(""), "")])
    }
}

/// Sends each value twice: PostgreSQL prints one and returns the other.
private func expectRoundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
    _ values: [(value: Value, text: String)], sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await withClient { client in
        for (value, text) in values {
            let rows = try await client.query("SELECT \(value)::text, \(value)").decode((String, Value).self)
            #expect(rows.map(\.0) == [text], sourceLocation: sourceLocation)
            #expect(rows.map(\.1) == [value], sourceLocation: sourceLocation)
        }
    }
}
