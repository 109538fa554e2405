internal import Encoding
public import EventStore
internal import Foundation
public import Postgres
public import ServiceLifecycle

/// One server on a test's database: a module with its log and its notifier. Test targets extend it by what their module does.
public struct TestNode<Module: Sendable>: Sendable {
    public let module: Module
    public let composition: Composition

    public var log: EventLog { composition.log }
    public var client: PostgresClient { composition.database }
    public var reader: LogReader { LogReader(client: client) }

    /// Appends a domain event as another module does, such as an erasure.
    /// - Throws: ``NotAppended``, and the errors of `EventLog.append(_:)`
    public func append(_ event: any DomainEvent, to stream: StreamName, after version: Int32) async throws -> RecordedPlace {
        let result = try await log.append(
            AppendRequest(
                id: UUID(), streams: [StreamAppend([event], to: stream, after: version)],
                recordedAt: Timestamp(milliseconds: 1_379_289_600_000),
                metadata: Metadata(requestID: "test", actor: nil, traceID: nil)))
        guard case .appended(let place) = result else { throw NotAppended() }
        return place
    }

    /// Runs the services of one server for as long as the body runs.
    /// - Parameters:
    ///   - projections: of read models that are prepared
    ///   - sessionSettings: of PostgreSQL, for the node's sessions
    ///   - listens: whether PostgreSQL tells the node of commits of other servers; without it the node polls once an hour
    ///   - compose: makes the module, and the services that run beside log and notifier; the composition has the notifier
    public static func run(
        _ database: TestDatabase, projections: [any Projection], dependencies: Dependencies = .system,
        sessionSettings: [String: String] = [:], listens: Bool = true,
        compose: @Sendable (inout Composition) throws -> (Module, [any Service]),
        _ body: @Sendable (TestNode) async throws -> Void
    ) async throws {
        @Sendable func configuration(connections: Int) -> PostgresConfiguration {
            var configuration = database.configuration(role: "log_app", connections: connections)
            configuration.sessionSettings = sessionSettings
            return configuration
        }
        try await withPostgres(configuration(connections: 5), logger: .quiet) { client in
            try await withPostgres(configuration(connections: 1), logger: .quiet) { writer in
                let notifier = LogNotifier(client: client, listens: listens, pollSeconds: listens ? 0.1 : 3_600, logger: .quiet)
                let log = EventLog(client: writer, projections: projections, notifier: notifier, logger: .quiet)
                var composition = Composition(log: log, database: client, dependencies: dependencies, logger: .quiet)
                composition.add(notifier)
                let (module, own) = try compose(&composition)
                let services: [any Service] = [notifier, log] + own
                let node = TestNode(module: module, composition: composition)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for service in services { group.addTask { try await service.run() } }
                    defer { group.cancelAll() }
                    try await body(node)
                }
            }
        }
    }
}

extension TestDatabase {
    /// Declares read models, as a migration does.
    public func declare(_ projections: [any Projection]) async throws {
        try await withClient(connections: 1) { client in
            _ = try await LogSchema(projections: projections, client: client).declare()
        }
    }

    /// Builds the read models of projections.
    public func prepare(_ projections: [any Projection]) async throws {
        try await declare(projections)
        try await withClient(role: "log_app", connections: 4) { client in
            try await ReadModels(projections: projections, client: client, logger: .quiet).prepare()
        }
    }
}
