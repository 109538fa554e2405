public import EventStore

extension TestDatabase {
    /// Appends as a program without any read model does.
    public func append(_ request: AppendRequest) async throws {
        try await withClient(role: "humon_app", connections: 1) { client in
            let log = EventLog(client: client, projections: [], logger: .quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await log.run() }
                defer { group.cancelAll() }
                _ = try await log.append(request)
            }
        }
    }
}
