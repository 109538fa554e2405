import Encoding
import Foundation
import Postgres
import TestChance
import Testing

@Suite(.client()) struct `Values come back as sent, and PostgreSQL reads them the same way` {
    private static let id = UUID(uuidString: "01234567-89AB-CDEF-FEDC-BA9876543210") ?? UUID()

    @Test func `values of every type come back, up to their extremes`() async throws {
        let texts = ["", " ", "tea", "'", "\"", "\\", "$1", "é e\u{301}", "日本語", "👩‍👩‍👧‍👦", "a\nb\tc\r", "\u{1}\u{7F}\u{10FFFF}"]
        // Longer than any buffer.
        let long = String(repeating: "0123456789", count: 300_000)
        let all = Bytea(bytes: UInt8.min...UInt8.max)
        let moments = [
            ("0000-01-01T00:00:00.000Z", "0001-01-01 00:00:00+00 BC"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31 23:59:59.999+00"),
            ("1970-01-01T00:00:00.000Z", "1970-01-01 00:00:00+00"),
            ("1999-12-31T23:59:59.999Z", "1999-12-31 23:59:59.999+00"),
            ("2000-01-01T00:00:00.000Z", "2000-01-01 00:00:00+00"),
            ("2024-02-29T12:34:56.789Z", "2024-02-29 12:34:56.789+00"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999+00"),
        ]
        try await client.expectRoundTrip([(true, "true"), (false, "false")])
        try await client.expectRoundTrip([(Int16(0), "0"), (-1, "-1"), (.min, "-32768"), (.max, "32767")])
        try await client.expectRoundTrip([(Int32(0), "0"), (-1, "-1"), (.min, "-2147483648"), (.max, "2147483647")])
        try await client.expectRoundTrip([
            (Int64(0), "0"), (-1, "-1"), (.min, "-9223372036854775808"), (.max, "9223372036854775807"),
        ])
        try await client.expectRoundTrip([
            (0.0, "0"), (0.1, "0.1"), (-2.5, "-2.5"), (1e22, "1e+22"),
            (Double.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"),
            (.infinity, "Infinity"), (-.infinity, "-Infinity"),
        ])
        try await client.expectRoundTrip((texts + [long]).map { ($0, $0) })
        try await client.expectRoundTrip([(Optional("tea"), "tea"), (Optional(""), "")])
        try await client.expectRoundTrip([
            (Bytea(bytes: []), "\\x"), (Bytea(bytes: [0]), "\\x00"), (Bytea(bytes: [0, 255, 39, 92]), "\\x00ff275c"),
            (all, "\\x" + all.bytes.map { String(format: "%02x", $0) }.joined()),
        ])
        try await client.expectRoundTrip([(Self.id, "01234567-89ab-cdef-fedc-ba9876543210")])
        try await client.expectRoundTrip(try moments.map { (try #require(Timestamp(rfc3339: $0.0)), $0.1) })
    }

    @Test func `NaN, negative zero and NULL of every type come back, and a NUL in a text is refused`() async throws {
        let row = try await client.query("SELECT \(Double.nan)::text, \(Double.nan), \(-0.0)::text, \(-0.0)")
            .decode((String, Double, String, Double).self)[0]
        #expect((row.0, row.1.isNaN, row.2, row.3.sign) == ("NaN", true, "-0", .minus))
        let nulls = try await client.query(
            """
            SELECT \(nil as Bool?), \(nil as Int16?), \(nil as Int32?), \(nil as Int64?), \(nil as Double?), \(nil as String?), \
            \(nil as Bytea?), \(nil as UUID?), \(nil as Timestamp?), \(nil as [Int64]?) IS NULL
            """
        ).decode((Bool?, Int16?, Int32?, Int64?, Double?, String?, Bytea?, UUID?, Timestamp?, Bool).self)[0]
        #expect((nulls.0, nulls.1, nulls.2, nulls.3, nulls.4) == (nil, nil, nil, nil, nil))
        #expect((nulls.5, nulls.6, nulls.7, nulls.8, nulls.9) == (nil, nil, nil, nil, true))
        let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT \("a\0b")") }
        #expect(error?.sqlState == SQLState(rawValue: "22021"))
    }

    @Test func `PostgreSQL's microseconds are truncated to milliseconds, before 2000 too`() async throws {
        let texts = ["1999-12-31T23:59:59.9995Z", "1969-12-31T23:59:59.9999Z", "2024-02-29T00:00:00.0009Z"]
        let read = try await client.query("SELECT unnest(\(texts))::timestamptz").column(Timestamp.self)
        #expect(read.map(\.description) == ["1999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z", "2024-02-29T00:00:00.000Z"])
    }

    @Test func `arrays of every type are bound, empty ones too, and keep NULLs apart from the text NULL`() async throws {
        let moment = try #require(Timestamp(rfc3339: "2013-09-16T00:00:00.500Z"))
        let statements: [(SQL, String)] = [
            ("SELECT \([Bool]())::text", "{}"), ("SELECT \([Int16]())::text", "{}"), ("SELECT \([Int32]())::text", "{}"),
            ("SELECT \([Int64]())::text", "{}"), ("SELECT \([Double]())::text", "{}"), ("SELECT \([String]())::text", "{}"),
            ("SELECT \([Bytea]())::text", "{}"), ("SELECT \([UUID]())::text", "{}"), ("SELECT \([Timestamp]())::text", "{}"),
            ("SELECT \([true, false])::text", "{t,f}"),
            ("SELECT \([Int16.min, 0, .max])::text", "{-32768,0,32767}"),
            ("SELECT \([Int32.min, 0, .max])::text", "{-2147483648,0,2147483647}"),
            ("SELECT \([Int64.min, 0, .max])::text", "{-9223372036854775808,0,9223372036854775807}"),
            ("SELECT \([0.1, -1e300, .infinity])::text", "{0.1,-1e+300,Infinity}"),
            ("SELECT \(["tea", "a b", ",", "{}", "\"", "\\"])::text", #"{tea,"a b",",","{}","\"","\\"}"#),
            ("SELECT \([Bytea(bytes: []), Bytea(bytes: [0, 255])])::text", #"{"\\x","\\x00ff"}"#),
            ("SELECT \([Self.id])::text", "{01234567-89ab-cdef-fedc-ba9876543210}"),
            ("SELECT \([moment])::text", #"{"2013-09-16 00:00:00.5+00"}"#),
            ("SELECT \([nil, "", "NULL", nil] as [String?])::text", #"{NULL,"","NULL",NULL}"#),
            ("SELECT \([nil, 1] as [Int64?])::text", "{NULL,1}"), ("SELECT \([nil] as [Double?])::text", "{NULL}"),
        ]
        for (statement, text) in statements {
            #expect(try await client.query(statement).column(String.self) == [text], "\(text)")
        }
        let numbers = (0..<10_000).map { Int64($0) }
        let read = try await client.query("SELECT n FROM unnest(\(numbers)) WITH ORDINALITY AS t (n, place) ORDER BY place")
        #expect(try read.column(Int64.self) == numbers)
    }

    /// The same values in every run.
    @Test func `random doubles, texts and times come back, and PostgreSQL prints them as Swift does`() async throws {
        let count = 500
        var generator = SeededGenerator(seed: 2)
        let doubles = (0..<count).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
        let texts = (0..<count).map { _ in
            let length = Int.random(in: 0...40, using: &generator)
            let scalars = (0..<length).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &generator)) }
            return String(String.UnicodeScalarView(scalars))
        }
        let years: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
        let times = (0..<count).map { _ in Timestamp(milliseconds: .random(in: years, using: &generator)) }
        let read = try await client.query("SELECT v, v::text FROM unnest(\(doubles)) WITH ORDINALITY AS t (v, n) ORDER BY n")
            .decode((Double, String).self)
        #expect(read.map(\.0.bitPattern) == doubles.map(\.bitPattern))
        #expect(read.map { Double($0.1)?.bitPattern } == doubles.map(\.bitPattern))
        let words = try await client.query("SELECT v FROM unnest(\(texts)) WITH ORDINALITY AS t (v, n) ORDER BY n")
        #expect(try words.column(String.self) == texts)
        let moments = try await client.query(
            """
            SELECT v, to_char(v AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
            FROM unnest(\(times)) WITH ORDINALITY AS t (v, n) ORDER BY n
            """
        ).decode((Timestamp, String).self)
        #expect(moments.map(\.0) == times)
        #expect(moments.map(\.1) == times.map(\.description))
    }
}

extension PostgresClient {
    /// Sends each value twice: PostgreSQL prints one and returns the other.
    fileprivate func expectRoundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        _ values: [(value: Value, text: String)], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for (value, text) in values {
            let rows = try await query("SELECT \(value)::text, \(value)").decode((String, Value).self)
            #expect(rows.map(\.0) == [text], sourceLocation: sourceLocation)
            #expect(rows.map(\.1) == [value], sourceLocation: sourceLocation)
        }
    }
}
