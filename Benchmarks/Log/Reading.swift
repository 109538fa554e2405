internal import EventStore
internal import Postgres

/// A replay of the whole log, beside COPY of the same rows.
struct Reading: Sendable {
    struct Result: Sendable {
        var events: Int64
        /// Rows a second.
        var replay, copyText, copyBinary: Double
    }

    let database: Database

    func measure() async throws -> Result {
        let events = try await database.administer { client in
            // Writes all hint bits and reads all pages once, so that no measurement pays for that.
            _ = try await client.query("VACUUM log.recorded_events")
            return try await client.query("SELECT count(*) FROM log.recorded_events").decode(Int64.self)[0]
        }
        progress("reading \(events) events")
        func rate(_ body: () async throws -> Void) async throws -> Double {
            let began = ContinuousClock.now
            try await body()
            return Double(events) / ((ContinuousClock.now - began) / .seconds(1))
        }
        let copyText = try await rate { try await copyOut("") }
        let replayed = try await rate {
            let decoded = try await replay()
            precondition(decoded == events, "\(decoded) of \(events) events were replayed")
        }
        return Result(
            events: events,
            replay: replayed,
            copyText: max(copyText, try await rate { try await copyOut("") }),
            copyBinary: try await rate { try await copyOut("WITH (FORMAT binary)") }
        )
    }

    /// Decodes every event into its Swift type, like a projection.
    private func replay() async throws -> Int64 {
        try await database.withWriter { client in
            var count: Int64 = 0
            try await LogReader(client: client).replay { page in
                for event in page {
                    let stored = event.envelope.event
                    _ = try BenchmarkEvent.domainEvent.decode(stored)
                }
                count += Int64(page.count)
            }
            return count
        }
    }

    private func copyOut(_ options: String) async throws {
        let command = #"\copy (SELECT * FROM log.recorded_events) TO '/dev/null' \#(options)"#
        try await PostgresProgram.run("psql", "-X", "-q", "-c", command, database.url)
    }
}
