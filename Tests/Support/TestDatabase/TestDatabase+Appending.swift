public import EventStore
public import Postgres

/// The log did not record what a test appended.
public struct NotAppended: Error {}

extension TestDatabase {
    /// Appends as a program without any read model does.
    /// - Throws: ``NotAppended``, and the errors of `EventLog.append(_:)`
    public func append(_ request: AppendRequest) async throws {
        try await withClient(role: "log_app", connections: 1) { client in
            let log = EventLog(client: client, projections: [], logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await log.run() }
                defer { group.cancelAll() }
                guard case .appended = try await log.append(request) else { throw NotAppended() }
            }
        }
    }
}

extension PostgresClient {
    /// Appends with the function of the database alone, also what no rule of this program decides.
    /// - Throws: `PostgresError`
    public func append(elsewhere event: StoredEvent, to stream: StreamName, version: Int32) async throws {
        var personal = "{}"
        if case .present(let utf8) = event.personal { personal = String(decoding: utf8, as: UTF8.self) }
        try await query(
            """
            SELECT log.append(ARRAY[gen_random_uuid()], ARRAY[\(stream.description)], ARRAY[\(version)], ARRAY[\(event.type)],
                ARRAY[1::smallint], ARRAY[now()], ARRAY[\(String(decoding: event.facts, as: UTF8.self))],
                ARRAY['{"request_id":"x","actor":1,"trace_id":null}'], ARRAY[\(personal)], '{}'::text[])
            """)
    }
}
