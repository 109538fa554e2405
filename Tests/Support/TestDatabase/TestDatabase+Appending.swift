public import EventStore

/// The log did not record what a test appended.
public struct NotAppended: Error {}

extension TestDatabase {
    /// Appends as a program without any read model does.
    /// - Throws: ``NotAppended``, and the errors of `EventLog.append(_:)`
    public func append(_ request: AppendRequest) async throws {
        try await withClient(role: "humon_app", connections: 1) { client in
            let log = EventLog(client: client, projections: [], logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await log.run() }
                defer { group.cancelAll() }
                guard case .appended = try await log.append(request) else { throw NotAppended() }
            }
        }
    }
}
