import Postgres
import Testing

@Suite struct `Decoding rows` {
    @Test func `a column of another type, a wider integer and a NULL are errors that name the column`() async throws {
        let rows = try await withClient { client in
            try await client.query("SELECT 1::bigint, 'tea'::text, 1::integer, NULL::text")
        }
        func mismatch(_ column: Int, _ type: Int) -> String {
            "column \(column) has type \(type), which is not the type it is read as"
        }
        #expect(Self.failure((Int64, Int64, Int32, String?).self, of: rows) == mismatch(1, 25))
        #expect(Self.failure((Int64, String, Int64, String?).self, of: rows) == mismatch(2, 23))
        #expect(Self.failure((String?, String, Int32, String?).self, of: rows) == mismatch(0, 20))
        #expect(Self.failure((Int64, String, Int32, String).self, of: rows) == "column 3 is NULL where a value is read")
    }

    /// Why rows cannot be read as these types; `nil` if they can.
    private static func failure<each Column: PostgresDecodable>(_: (repeat each Column).Type, of rows: Rows) -> String? {
        let error = #expect(throws: PostgresError.self) { _ = try rows.decode((repeat each Column).self) }
        return error?.description
    }

    @Test(.client()) func `text is decoded from text, varchar, name and json`() async throws {
        let rows = try await client.query("SELECT 'a'::text, 'b'::varchar(9), 'c'::name, '{\"d\": 1 }'::json")
            .decode((String, String, String, String).self)
        let row = try #require(rows.first)
        #expect(row == ("a", "b", "c", "{\"d\": 1 }"))
    }

    @Test(.client()) func `a statement without rows gives none, and the number of rows it changed`() async throws {
        try await client.query("CREATE TABLE teas (name text)")
        let inserted = try await client.query("INSERT INTO teas SELECT 'tea' FROM generate_series(1, 5)")
        #expect(inserted.isEmpty)
        #expect(inserted.affected == 5)
        #expect(try await client.query("UPDATE teas SET name = 'mate' WHERE false").affected == 0)
        #expect(try await client.query("DELETE FROM teas").affected == 5)
    }

    @Test func `rows outlive the client that read them`() async throws {
        let rows = try await withClient { client in try await client.query("SELECT 'still here'::text") }
        #expect(try rows.column(String.self) == ["still here"])
    }
}
