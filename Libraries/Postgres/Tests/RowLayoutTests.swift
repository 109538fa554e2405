import Encoding
import Testing

@testable import Postgres

@Suite struct `Writing rows of a Swift type` {
    private struct Tea: Sendable, Equatable {
        var id: Int64
        var name: String
        var grams: Double?
        var brewedAt: Timestamp
        var isGreen: Bool
    }

    private static let layout = RowLayout<Tea>(
        table: "tea 'time'",
        [
            .init("id") { $0.id }, .init("name") { $0.name }, .init("grams") { $0.grams }, .init("brewed at") { $0.brewedAt },
            .init("is_green") { $0.isGreen },
        ]
    )

    private static let teas = [
        Tea(id: 1, name: "Assam", grams: 2.5, brewedAt: Timestamp(milliseconds: 1_379_289_600_123), isGreen: false),
        Tea(id: -2, name: "茶\t\"\\N", grams: nil, brewedAt: Timestamp(milliseconds: -1), isGreen: true),
        Tea(id: .max, name: "", grams: -0.0, brewedAt: Timestamp(milliseconds: 0), isGreen: true),
    ]

    private static func withTable(_ body: @Sendable (LeasedConnection) async throws -> Void) async throws {
        try await withConnection { connection in
            try await connection.query("CREATE SCHEMA \(identifier: "of mine")")
            try await connection.execute(
                script: """
                    CREATE TABLE "of mine"."tea 'time'" (id bigint PRIMARY KEY, name text, grams double precision,
                        "brewed at" timestamptz, is_green boolean, note text DEFAULT 'none')
                    """)
            try await body(connection)
        }
    }

    private static func found(_ connection: LeasedConnection) async throws -> [Tea] {
        try await connection.query(
            "SELECT id, name, grams, \(identifier: "brewed at"), is_green FROM \(identifier: "of mine").\(identifier: "tea 'time'") ORDER BY abs(id::numeric)"
        ).decode((Int64, String, Double?, Timestamp, Bool).self).map {
            Tea(id: $0, name: $1, grams: $2, brewedAt: $3, isGreen: $4)
        }
    }

    @Test func `COPY inserts rows, several batches of one table together`() async throws {
        try await Self.withTable { connection in
            try await connection.copy([])
            try await connection.copy(
                [Self.teas.prefix(1), [], Self.teas.dropFirst(1)].map {
                    Self.layout.insertion(of: Array($0), in: "of mine").encoded
                })
            #expect(try await Self.found(connection) == Self.teas)
        }
    }

    @Test func `one statement updates rows except for the excluded columns`() async throws {
        try await Self.withTable { connection in
            try await connection.query(Self.layout.insertion(of: Self.teas, in: "of mine").statement)
            var changed = Self.teas[1]
            (changed.name, changed.grams, changed.isGreen) = ("Sencha", 3, false)
            let unknown = Tea(id: 99, name: "Nobody's", grams: 1, brewedAt: changed.brewedAt, isGreen: true)
            try await connection.query(Self.layout.without("is_green").update([changed, unknown], by: "id", in: "of mine"))
            changed.isGreen = true
            #expect(try await Self.found(connection) == [Self.teas[0], changed, Self.teas[2]])
        }
    }
}
