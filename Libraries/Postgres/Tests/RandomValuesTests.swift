import Encoding
import Postgres
import TestChance
import Testing

/// Random values, the same in every run.
@Suite struct `Random values come back, and PostgreSQL prints them as Swift does` {
    private static let count = 500

    @Test func `doubles of any bit pattern come back unchanged`() async throws {
        var generator = SeededGenerator(seed: 2)
        let values = (0..<Self.count).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
        try await withClient { client in
            let rows = try await client.query("SELECT v, v::text FROM unnest(\(values)) WITH ORDINALITY AS t (v, n) ORDER BY n")
                .decode((Double, String).self)
            #expect(rows.map(\.0.bitPattern) == values.map(\.bitPattern))
            #expect(rows.map { Double($0.1)?.bitPattern } == values.map(\.bitPattern))
        }
    }

    @Test func `a text of any characters but NUL comes back unchanged`() async throws {
        try await expectRoundTrip(
            seed: 5,
            { generator in
                let length = Int.random(in: 0...40, using: &generator)
                let scalars = (0..<length).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &generator)) }
                return String(String.UnicodeScalarView(scalars))
            },
            text: { $0 })
    }

    @Test func `random times come back unchanged`() async throws {
        let years: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
        try await expectRoundTrip(
            seed: 6, { Timestamp(milliseconds: .random(in: years, using: &$0)) }, text: \.description,
            printedBy: #"to_char(v AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#)
    }

    private func expectRoundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        seed: UInt64,
        _ make: (inout SeededGenerator) -> Value,
        text: (Value) -> String,
        printedBy expression: String = "v::text"
    ) async throws {
        var generator = SeededGenerator(seed: seed)
        let values = (0..<Self.count).map { _ in make(&generator) }
        let rows = try await withClient { client in
            try await client.query(Self.statement(values, expression)).decode((Value, String).self)
        }
        #expect(rows.map(\.0) == values)
        #expect(rows.map(\.1) == values.map(text))
    }

    private static func statement<Value: PostgresEncodable>(_ values: [Value], _ expression: String) -> SQL {
        var interpolation = SQL.StringInterpolation(literalCapacity: 100, interpolationCount: 1)
        interpolation.appendLiteral("SELECT v, \(expression) FROM unnest(")
        interpolation.appendInterpolation(values)
        interpolation.appendLiteral(") WITH ORDINALITY AS t (v, n) ORDER BY n")
        return SQL(stringInterpolation: interpolation)
    }
}
