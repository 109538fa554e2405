import App
import EventStore
import Postgres

/// A recorded event for the checker, read with separate SQL instead of the code under test.
struct LogRow: Sendable, Hashable {
    var position: Int64
    var stream: String
    var version: Int32
    var type: String
    /// The marks by which a command may be recognised; see ``Mark``.
    var marks: Set<String>

    /// The whole log in order.
    static func all(_ client: PostgresClient) async throws -> [LogRow] {
        try await client.query(
            """
            SELECT position, stream, version, type, coalesce(personal->>'device', ''), coalesce(
                (SELECT string_agg(m[1], ' ') FROM regexp_matches(data::text || coalesce(personal::text, '') || metadata::text, \("(\(Mark.pattern))"), 'g') AS m),
                ''
            )
            FROM log.recorded_events ORDER BY position
            """
        ).decode((Int64, String, Int32, String, String, String).self).map { position, stream, version, type, device, words in
            var marks = Set(words.split(separator: " ").map(String.init))
            if !device.isEmpty { marks.insert(device) }
            if type == "AttendanceAdded" { marks.insert(stream) }
            if type == "EventCancelled" { marks.insert("cancellation of \(stream)") }
            if type == "AttendanceRemoved" { marks.insert(Mark.leaving(stream)) }
            return LogRow(position: position, stream: stream, version: version, type: type, marks: marks)
        }
    }

    /// A digest that changes with every bit of the log.
    static func digest(_ client: PostgresClient) async throws -> String {
        try await client.query(
            "SELECT coalesce(md5(string_agg(md5(r::text), '' ORDER BY position)), '') FROM log.recorded_events AS r"
        ).decode(String.self)[0]
    }
}

/// The differences between the replaced read models and the rebuilt ones.
enum ReplayedReadModels {
    static func violations(_ client: PostgresClient) async throws -> [Violation] {
        var violations: [Violation] = []
        for schema in Modules.registered.projections.map({ type(of: $0).schema }) {
            violations += try await self.violations(schema, client)
        }
        return violations
    }

    private static func violations(_ schema: String, _ client: PostgresClient) async throws -> [Violation] {
        var violations: [Violation] = []
        let tables = try await client.query("SELECT tablename::text FROM pg_tables WHERE schemaname = \(schema)").decode(
            String.self)
        if tables.isEmpty { violations.append(Violation(check: .readModels, sentence: "\(schema) has no tables")) }
        for table in tables {
            let (live, replayed): (SQL, SQL) = (
                "TABLE \(identifier: schema + "_previous").\(identifier: table)",
                "TABLE \(identifier: schema).\(identifier: table)"
            )
            let counts = try await client.run([
                SQL(unsafeText: "SELECT count(*) FROM (\(live.text) EXCEPT \(replayed.text)) AS d"),
                SQL(unsafeText: "SELECT count(*) FROM (\(replayed.text) EXCEPT \(live.text)) AS d"),
            ]).map { try $0.decode(Int64.self)[0] }
            guard counts != [0, 0] else { continue }
            let sentence = "\(counts[0]) rows of \(table) are in no replay, \(counts[1]) of the replay are not in \(table)"
            violations.append(Violation(check: .readModels, sentence: sentence))
        }
        return violations
    }
}
