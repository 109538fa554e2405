internal import Logging
public import Postgres

/// Reads the state that a command is decided on, from a read model.
///
/// Another version of the program may have appended, which leaves this version's tables behind. Then the functions catch the read
/// model up, outside of the log's lock.
public struct StateReader: Sendable {
    /// Maximum number of queries for one result of ``rows(_:)``.
    private static let attempts = 3

    private let schema: String
    private let isInStep: SQL
    private let client: PostgresClient
    private let readModels: ReadModels

    public init(of projection: some Projection, client: PostgresClient) {
        schema = type(of: projection).schema
        isInStep = type(of: projection).isInStep
        self.client = client
        readModels = ReadModels(projections: [projection], client: client, logger: Logger(label: "humon.commands"))
    }

    /// Reads a state that has at least this version.
    /// - Parameters:
    ///   - version: the version of the stream at an earlier attempt's conflict; 0 at the first attempt
    ///   - versionOf: the version of the stream that a state shows
    ///   - read: reads the state; `nil` if the read model has none
    /// - Throws: ``ReadModelLag`` if the read model stays behind, `PostgresError` if the database is away, `CancellationError`, and
    ///   what `read` throws
    public func read<State>(
        atLeast version: Int32, version versionOf: (State) -> Int32, _ read: () async throws -> State?
    ) async throws -> State? {
        let shown = try await read()
        guard shown.map(versionOf) ?? 0 < version else { return shown }
        try await catchUp()
        // The read model has reached the end of the log. If it shows no state now, the stream's last domain event removed it.
        guard let state = try await read() else { return nil }
        guard versionOf(state) >= version else { throw ReadModelLag(schema: schema) }
        return state
    }

    /// Returns the rows of a query when the read model holds every recorded event of its category. An old row could accept a token
    /// that was revoked.
    /// - Throws: ``ReadModelError/behind(_:)`` if the read model stays behind, `PostgresError`, `CancellationError`
    public func rows(_ query: SQL) async throws -> Rows {
        for attempt in 1...Self.attempts {
            // The first statement sees no more of the log than the second one.
            let answers = try await client.run([isInStep, query])
            if try answers[0].decode(Bool.self).first == true { return answers[1] }
            guard attempt < Self.attempts else { break }
            do { try await catchUp() } catch is ReadModelLag { break }
        }
        throw ReadModelError.behind(schema)
    }

    private func catchUp() async throws {
        do {
            try await readModels.catchUp()
        } catch let error where error is CancellationError || (error as? PostgresError)?.isUnavailability == true {
            throw error
        } catch {
            throw ReadModelLag(schema: schema)
        }
    }
}
