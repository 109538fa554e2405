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
