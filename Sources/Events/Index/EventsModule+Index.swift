internal import EventStore
internal import Synchronization

extension EventsModule {
    public var indexStatus: InMemoryStatus { index?.status ?? InMemoryStatus() }

    /// The numbers of requests that read events, by their source.
    public var reads: (fromMemory: Int, fromDatabase: Int) {
        (indexReads.load(ordering: .relaxed), databaseReads.load(ordering: .relaxed))
    }

    /// Returns when the source of reads is decided: the index, or PostgreSQL without an index.
    public func untilReady() async {
        guard let index else { return }
        for await _ in index.state.beginning {}
    }

    /// Compares the events of the index with the read model.
    /// - Throws: ``IndexNotInUseError``, `ReadModelBehindError`, `PostgresError`, `CancellationError`
    public func verifyIndex() async throws -> IndexVerification {
        guard let index else { throw IndexNotInUseError() }
        return try await index.examine()
    }
}
