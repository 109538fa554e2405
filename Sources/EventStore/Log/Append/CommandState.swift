internal import Logging
public import Postgres

/// Reads the state that a command is decided on, from a read model.
public struct CommandState: Sendable {
    private let schema: String
    private let readModels: ReadModels

    public init(of projection: some Projection, client: PostgresClient) {
        schema = type(of: projection).schema
        readModels = ReadModels(projections: [projection], client: client, logger: Logger(label: "humon.commands"))
    }

    /// Reads a state of a version or a later one. If the read model shows an earlier version, another version of the program has
    /// appended. Then this function catches the read model up, outside of the log's lock, and reads again.
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
        do {
            try await readModels.catchUp()
        } catch let error where error is CancellationError || (error as? PostgresError)?.isUnavailability == true {
            throw error
        } catch {
            throw ReadModelLag(schema: schema)
        }
        // The read model has reached the end of the log. If it shows no state now, the stream's last domain event removed it.
        guard let state = try await read() else { return nil }
        guard versionOf(state) >= version else { throw ReadModelLag(schema: schema) }
        return state
    }
}
