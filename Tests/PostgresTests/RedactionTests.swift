import Testing

@testable import Postgres

@Suite struct `No description, debug description or dump shows` {
    private static let secret = "hunter2"

    @Test func `the value that violates a constraint`() async throws {
        try await withClient { client in
            try await client.query("CREATE TABLE tokens (token text UNIQUE)")
            try await client.query("INSERT INTO tokens VALUES (\(Self.secret))")
            let error = await #expect(throws: PostgresError.self) {
                try await client.query("INSERT INTO tokens VALUES (\(Self.secret))")
            }
            expectSecrecy(of: try #require(error))
        }
    }

    @Test func `the value that cannot be cast, though PostgreSQL's own sentence quotes it`() async throws {
        try await withClient { client in
            let error = try #require(
                await #expect(throws: PostgresError.self) { try await client.query("SELECT \(Self.secret)::text::integer") })
            guard case .refused(let refusal) = error else { throw error }
            #expect(refusal.unredactedMessage.contains(Self.secret))
            expectSecrecy(of: error)
            expectSecrecy(of: refusal)
        }
    }

    @Test func `the parameters of a statement`() {
        let statement: SQL = "SELECT \(Self.secret)"
        expectSecrecy(of: statement)
        // Its bytes are no better.
        for rendering in renderings(of: statement) { #expect(!rendering.contains("\(UInt8(ascii: "h"))")) }
    }

    @Test func `the password of a configuration`() {
        expectSecrecy(of: PostgresConfiguration(url: "postgres://humon:\(Self.secret)@127.0.0.1/humon"))
        expectSecrecy(of: PostgresConfiguration(url: "host=127.0.0.1 password=\(Self.secret)"))
    }

    @Test func `the password of a URL that nothing answers`() async throws {
        let port = try UnusedPort.find()
        let configuration = PostgresConfiguration(url: "postgres://humon:\(Self.secret)@127.0.0.1:\(port)/humon")
        let error = await #expect(throws: PostgresError.self) { try await ConnectionThread.open(configuration) }
        expectSecrecy(of: try #require(error))
        #expect(error?.description.contains("127.0.0.1") == true)
    }

    @Test func `the password of a URL that libpq cannot read`() async throws {
        let urls = [
            "postgres://humon:\(Self.secret)@[::1/humon", "postgres://humon:%zz\(Self.secret)@127.0.0.1/humon",
            "postgres://humon:\(Self.secret)@127.0.0.1/humon?nonsense=1", "password='\(Self.secret)",
            "host=127.0.0.1 password=\(Self.secret) and more", "password=a \(Self.secret)",
        ]
        try await expectUnusable(urls)
    }

    /// libpq takes what follows for a host, a port or a database, and those it names.
    @Test func `the password of a URL that libpq reads as something else, for want of percent signs`() async throws {
        let urls = [
            "postgres://humon:a@\(Self.secret)@127.0.0.1:1/humon", "postgres://humon:\(Self.secret)/a@127.0.0.1:1/humon",
            "postgres://127.0.0.1:1/\(Self.secret)@127.0.0.1:1/humon", "postgres://humon:a?b@\(Self.secret)@127.0.0.1:1/humon",
        ]
        try await expectUnusable(urls)
    }

    private func expectUnusable(_ urls: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for url in urls {
            let configuration = PostgresConfiguration(url: url)
            let error = await #expect(throws: PostgresError.self, sourceLocation: sourceLocation) {
                try await ConnectionThread.open(configuration)
            }
            guard case .unusableURL = try #require(error) else {
                Issue.record("not refused as unusable: \(url)", sourceLocation: sourceLocation)
                continue
            }
            expectSecrecy(of: try #require(error), sourceLocation: sourceLocation)
        }
    }

    private func expectSecrecy(of value: some Sendable, sourceLocation: SourceLocation = #_sourceLocation) {
        for rendering in renderings(of: value) {
            #expect(!rendering.contains(Self.secret), sourceLocation: sourceLocation)
        }
    }
}
