internal import EventStore
internal import Synchronization

extension EventsModule {
    public var indexStatus: InMemoryStatus { index?.status ?? InMemoryStatus() }

    /// Number of requests that read events.
    public var readCount: Int { reads.load(ordering: .relaxed) }

    /// Returns when the first load of the index is over; at once without an index.
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
