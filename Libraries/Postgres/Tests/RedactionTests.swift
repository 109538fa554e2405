import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Redacting secrets in descriptions and dumps` {
    private static let secret = "hunter2"

    @Test(.client()) func `an error about a constraint or a cast does not show the value`() async throws {
        try await client.query("CREATE TABLE tokens (token text UNIQUE)")
        try await client.query("INSERT INTO tokens VALUES (\(Self.secret))")
        let error = await #expect(throws: PostgresError.self) {
            try await client.query("INSERT INTO tokens VALUES (\(Self.secret))")
        }
        expectSecrecy(of: try #require(error))
        // PostgreSQL's message about a cast quotes the value.
        let cast = try #require(
            await #expect(throws: PostgresError.self) { try await client.query("SELECT \(Self.secret)::text::integer") })
        guard case .refused(let refusal) = cast else { throw cast }
        #expect(refusal.unredactedMessage.contains(Self.secret))
        expectSecrecy(of: cast)
        expectSecrecy(of: refusal)
    }

    @Test func `a statement does not show its parameters`() {
        let statement: SQL = "SELECT \(Self.secret)"
        expectSecrecy(of: statement)
        // The bytes of a parameter are secret too.
        for rendering in renderings(of: statement) { #expect(!rendering.contains("\(UInt8(ascii: "h"))")) }
    }

    @Test func `a configuration does not show its password`() {
        expectSecrecy(of: PostgresConfiguration(url: "postgres://humon:\(Self.secret)@127.0.0.1/humon"))
        expectSecrecy(of: PostgresConfiguration(url: "host=127.0.0.1 password=\(Self.secret)"))
    }

    @Test func `a connection error does not show the password of the URL`() async throws {
        let port = try UnusedPort.find()
        let configuration = PostgresConfiguration(url: "postgres://humon:\(Self.secret)@127.0.0.1:\(port)/humon")
        let error = await #expect(throws: PostgresError.self) { try await ConnectionThread.open(configuration) }
        expectSecrecy(of: try #require(error))
        #expect(error?.description.contains("127.0.0.1") == true)
    }

    @Test func `the error about an unreadable URL does not show its password`() async throws {
        let urls = [
            "postgres://humon:\(Self.secret)@[::1/humon", "postgres://humon:%zz\(Self.secret)@127.0.0.1/humon",
            "postgres://humon:\(Self.secret)@127.0.0.1/humon?nonsense=1", "password='\(Self.secret)",
            "host=127.0.0.1 password=\(Self.secret) and more", "password=a \(Self.secret)",
            // libpq reads a part of the password as host, port or database, and its messages name those.
            "postgres://humon:a@\(Self.secret)@127.0.0.1:1/humon", "postgres://humon:\(Self.secret)/a@127.0.0.1:1/humon",
            "postgres://127.0.0.1:1/\(Self.secret)@127.0.0.1:1/humon", "postgres://humon:a?b@\(Self.secret)@127.0.0.1:1/humon",
        ]
        for url in urls {
            let configuration = PostgresConfiguration(url: url)
            let error = try #require(
                await #expect(throws: PostgresError.self) { try await ConnectionThread.open(configuration) })
            guard case .unusableURL = error else {
                Issue.record("not refused as unusable: \(url)")
                continue
            }
            expectSecrecy(of: error)
        }
    }

    private func expectSecrecy(of value: some Sendable, sourceLocation: SourceLocation = #_sourceLocation) {
        for rendering in renderings(of: value) {
            #expect(!rendering.contains(Self.secret), sourceLocation: sourceLocation)
        }
    }
}
