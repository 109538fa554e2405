public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Compares the rows of the read models with the log in the background, page by page, and begins again after the end of the log. So a
/// row that a fault or a person changed is found without an operator's command.
///
/// The cost has a bound: one page every five seconds, on one connection. The comparison neither locks nor changes a table that others
/// see. It does not find rows that the log never made; ``ReadModels/verify(sample:limit:progress:)`` finds them.
public final class ContinuousVerification: Service {
    private static let pauseSeconds = 5.0
    /// Minimum time between two beginnings, so that a small log does not keep an idle machine busy.
    private static let passSeconds = 60.0
    private static let retrySeconds = 60.0

    /// What was compared since the start of the process.
    public struct Status: Sendable, Hashable {
        public struct ReadModel: Sendable, Hashable {
            /// Number of compared rows; a row counts in every pass.
            public var rows: Int64 = 0
            /// Number of rows that differed from the log in the last pass, or in this one if there are more.
            public var differing: Int64 = 0
        }

        /// By the names of the schemas.
        public var readModels: [String: ReadModel]
        /// Number of times that the end of the log was reached.
        public var passes: Int64 = 0
    }

    private struct State {
        var status: Status
        /// The number of differing rows in this pass, by schema.
        var found: [String: Int64] = [:]
    }

    private let projections: [any Projection]
    private let client: PostgresClient
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - projections: all projections of the program. Their tables have different names
    ///   - client: one connection with the rights of the application, and not through a pooler. It should have a low priority
    public init(projections: [any Projection], client: PostgresClient, logger: Logger) {
        self.projections = projections
        self.client = client
        self.logger = logger
        let schemas = projections.map { (type(of: $0).schema, Status.ReadModel()) }
        state = Mutex(State(status: Status(readModels: Dictionary(uniqueKeysWithValues: schemas))))
    }

    public var status: Status { state.withLock(\.status) }

    /// Compares until shutdown begins.
    /// - Throws: never; the protocol requires `throws`
    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                do {
                    try await client.withConnection { connection in
                        let comparison = try await SampleComparison(of: projections, on: connection)
                        while true { try await pass(comparison) }
                    }
                } catch is CancellationError {
                    return
                } catch {
                    // Other clients report that PostgreSQL is away.
                    let isAway = (error as? PostgresError)?.isUnavailability == true
                    logger.log(
                        level: isAway ? .debug : .error, "rows of read models cannot be compared with the log",
                        metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: .seconds(Self.retrySeconds))
                }
            }
        }
        // The end of one service would end all services.
        try? await gracefulShutdown()
    }

    /// Compares all streams up to the end of the log. A first pass begins at any place, because a process may end before the end of a
    /// long log, every time.
    private func pass(_ comparison: SampleComparison) async throws {
        let begun = ContinuousClock.now
        var position: Int64 = status.passes == 0 ? try await comparison.randomPosition() : 0
        while let page = try await comparison.compare(after: position) {
            note(page)
            position = page.through
            try await Task.sleep(for: .seconds(Self.pauseSeconds))
        }
        state.withLock { state in
            for schema in state.status.readModels.keys {
                state.status.readModels[schema]?.differing = state.found[schema, default: 0]
            }
            state.found = [:]
            state.status.passes += 1
        }
        try await Task.sleep(until: max(begun + .seconds(Self.passSeconds), .now + .seconds(Self.pauseSeconds)))
    }

    private func note(_ page: SampleComparison.Page) {
        let new = state.withLock { state in
            page.results.filter { schema, result in
                state.found[schema, default: 0] += result.differing
                let known = state.status.readModels[schema, default: Status.ReadModel()]
                let differing = max(known.differing, state.found[schema, default: 0])
                state.status.readModels[schema] = Status.ReadModel(rows: known.rows + result.rows, differing: differing)
                return differing > known.differing
            }
        }
        for (schema, result) in new {
            logger.error(
                "rows of a read model differ from the log: run humon projections verify, then rebuild",
                metadata: [
                    "schema": "\(schema)", "rows": .stringConvertible(result.differing),
                    "position": .stringConvertible(page.through),
                ])
        }
    }
}
