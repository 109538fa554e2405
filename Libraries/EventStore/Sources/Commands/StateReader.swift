internal import Logging
public import Postgres

/// Reads the state that a command is decided on, from a read model.
///
/// Another version of the program may have appended, which leaves this version's tables behind. Then the functions catch the read
/// model up, outside of the log's lock.
public struct StateReader: Sendable {
    /// Maximum number of queries for one result of ``rows(_:)``.
    private static let attempts = 3

    let schema: String
    private let isInStep: SQL
    private let client: PostgresClient
    private let readModels: ReadModels

    public init(of projection: some Projection, client: PostgresClient) {
        schema = type(of: projection).schema
        isInStep = type(of: projection).isInStep
        self.client = client
        readModels = ReadModels(projections: [projection], client: client, logger: Logger(label: "commands"))
    }

    /// Returns the rows of a query when the read model holds every recorded event of its category. An old row could accept a token
    /// that was revoked.
    /// - Throws: ``ReadModelError/behind(_:)`` if the read model stays behind, `PostgresError`, `CancellationError`
    public func rows(_ query: SQL) async throws -> Rows {
        for attempt in 1...Self.attempts {
            // The first statement sees no more of the log than the second one.
            let answers = try await client.run([isInStep, query])
            if try answers[0].decode(Bool.self).first == true { return answers[1] }
            guard attempt < Self.attempts, try await catchUp() else { break }
        }
        throw ReadModelError.behind(schema)
    }

    /// Brings the read model to the end of the log.
    /// - Returns: whether it is there
    /// - Throws: `PostgresError`, `CancellationError`
    private func catchUp() async throws -> Bool { try await readModels.catchUpEach().failures.isEmpty }

    /// Brings the read model to the end of the log if another version of the program has appended.
    /// - Returns: whether the read model holds every recorded event of its category
    /// - Throws: `PostgresError`, `CancellationError`
    func reachesEnd() async throws -> Bool {
        if try await client.query(isInStep).decode(Bool.self).first == true { return true }
        return try await catchUp()
    }
}
