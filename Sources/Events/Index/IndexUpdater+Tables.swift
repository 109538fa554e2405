internal import EventStore
internal import Logging
internal import Postgres

extension IndexUpdater {
    /// Seconds between two checks that the read model still has the tables that the index was loaded from.
    private static let checkSeconds = 1.0

    /// Looks for new tables of the read model until it has some that differ from the index.
    /// - Parameter tableGeneration: the table generation that the index was loaded from
    /// - Throws: ``ReadModelReplacedError``, `PostgresError`, `CancellationError`
    func watchTables(_ tableGeneration: String) async throws {
        var tableGeneration = tableGeneration
        while true {
            try await Task.sleep(for: .seconds(Self.checkSeconds))
            do { tableGeneration = try await checkTables(tableGeneration) } catch let error as PostgresError
                where error.isUnavailability
            {
                // The content stays valid, and the tables can be checked later.
            }
        }
    }

    /// Compares the index with the tables of the read model if they are not the ones that it knows. A rebuild corrects a wrong read
    /// model, and the index may have the same errors. It stays in use meanwhile, because a load would send all reads to PostgreSQL.
    /// - Returns: the table generation that the index agrees with
    /// - Throws: ``ReadModelReplacedError`` if the index must be loaded again; `PostgresError`, `CancellationError`
    func checkTables(_ known: String) async throws -> String {
        let current = try await ReadModelState.of(EventsProjection.self, client).tableGeneration
        guard current != known else { return known }
        do {
            guard try await examine().differing == 0 else { throw ReadModelReplacedError() }
        } catch is IndexNotInUseError {
            throw ReadModelReplacedError()
        } catch is ReadModelBehindError {
            throw ReadModelReplacedError()
        }
        logger.notice("the index agrees with the new tables of its read model")
        return current
    }
}
