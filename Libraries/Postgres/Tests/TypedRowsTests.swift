import Postgres
import Testing

@Suite struct `Decoding rows` {
    @Test func `rows are decoded column by column`() async throws {
        try await withClient { client in
            let rows = try await client.query("SELECT n, 'tea ' || n FROM generate_series(1, 3::bigint) AS n")
                .decode((Int64, String).self)
            #expect(rows.map(\.0) == [1, 2, 3])
            #expect(rows.map(\.1) == ["tea 1", "tea 2", "tea 3"])
        }
    }

    @Test func `a column of another type is an error that names the column`() async throws {
        try await expectFailure(
            reading: (Int64, Int64).self, of: "SELECT 1::bigint, 'tea'::text",
            "column 1 has type 25, which is not the type it is read as")
    }

    @Test func `a narrower integer is not decoded as a wider one`() async throws {
        try await expectFailure(
            reading: Int64.self, of: "SELECT 1::integer", "column 0 has type 23, which is not the type it is read as")
    }

    @Test func `another type is an error for an optional too`() async throws {
        try await expectFailure(
            reading: String?.self, of: "SELECT 1::bigint", "column 0 has type 20, which is not the type it is read as")
    }

    @Test func `NULL is an error for a non-optional value`() async throws {
        try await expectFailure(
            reading: (Int64, String).self, of: "SELECT 1::bigint, NULL::text", "column 1 is NULL where a value is read")
    }

    @Test func `text is decoded from text, varchar, name and json`() async throws {
        try await withClient { client in
            let rows = try await client.query("SELECT 'a'::text, 'b'::varchar(9), 'c'::name, '{\"d\": 1 }'::json")
                .decode((String, String, String, String).self)
            let row = try #require(rows.first)
            #expect(row == ("a", "b", "c", "{\"d\": 1 }"))
        }
    }

    @Test func `a statement without rows gives none, and the number of rows it changed`() async throws {
        try await withClient { client in
            try await client.query("CREATE TABLE teas (name text)")
            let inserted = try await client.query("INSERT INTO teas SELECT 'tea' FROM generate_series(1, 5)")
            #expect(inserted.isEmpty)
            #expect(inserted.affected == 5)
            #expect(try await client.query("UPDATE teas SET name = 'mate' WHERE false").affected == 0)
            #expect(try await client.query("DELETE FROM teas").affected == 5)
        }
    }

    @Test func `rows outlive the client that read them`() async throws {
        let rows = try await withClient { client in try await client.query("SELECT 'still here'::text") }
        #expect(try rows.column(String.self) == ["still here"])
    }

    private func expectFailure<each Column: PostgresDecodable>(
        reading _: (repeat each Column).Type, of statement: SQL, _ description: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let rows = try await withClient { client in try await client.query(statement) }
        let error = #expect(throws: PostgresError.self, sourceLocation: sourceLocation) {
            _ = try rows.decode((repeat each Column).self)
        }
        #expect(error?.description == description, sourceLocation: sourceLocation)
    }
}
