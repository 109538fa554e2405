import Postgres
import Testing

@Suite struct `Interpolating values into SQL` {
    private static let attacks = [
        "'; DROP TABLE teas; --", "\\'; DROP TABLE teas; --", "$1", "$$; DROP TABLE teas; $$", "\") OR 1=1; --",
        "1); DELETE FROM teas; SELECT (1", "%s %@ \\0",
    ]

    @Test func `an interpolated value is bound and never part of the text`() {
        let statement: SQL = "SELECT * FROM teas WHERE name = \("'; DROP TABLE teas; --") AND price < \(Int64(3))"
        #expect(statement.text == "SELECT * FROM teas WHERE name = $1 AND price < $2")
    }

    @Test(.client()) func `an interpolated value of any content comes back as data, and an identifier is one name`() async throws
    {
        try await client.query("CREATE TABLE teas (name text)")
        for attack in Self.attacks { try await client.query("INSERT INTO teas (name) VALUES (\(attack))") }
        let names = try await client.query("SELECT name FROM teas").column(String.self)
        #expect(Set(names) == Set(Self.attacks))
        for attack in Self.attacks {
            let found = try await client.query("SELECT name FROM teas WHERE name = \(attack)").column(String.self)
            #expect(found == [attack])
        }
        // An identifier is one quoted name.
        let name = "odd \"; DROP TABLE teas; --"
        try await client.query("CREATE TABLE \(identifier: name) (\(identifier: "a \"column\"") text)")
        let tables = try await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        #expect(try tables.column(String.self) == [name, "teas"])
    }

    @Test(.client(connections: 1)) func `values of several types keep their types in one statement`() async throws {
        func kind(of value: some PostgresEncodable) async throws -> String? {
            try await client.query("SELECT pg_typeof(\(value))::text || ' ' || \(value)::text").column(String.self).first
        }
        #expect(try await kind(of: Int64(7)) == "bigint 7")
        #expect(try await kind(of: 1.5) == "double precision 1.5")
        #expect(try await kind(of: "eight by") == "text eight by")
        #expect(try await kind(of: Int64(8)) == "bigint 8")
    }

    @Test(.client()) func `an interpolated statement keeps its values, behind those before it`() async throws {
        let part: SQL = "\("a") || \("b")"
        let whole: SQL = "SELECT \(Int64(1)), \(part), \("c") || \(part)"
        #expect(whole.text == "SELECT $1, $2 || $3, $4 || $5 || $6")
        let row = try await client.query(whole).decode((Int64, String, String).self)[0]
        #expect(row == (1, "ab", "cab"))
    }
}
