internal import EventStore
internal import Synchronization

extension EventsModule {
    public var indexStatus: InMemoryStatus { index?.status ?? InMemoryStatus() }

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

/// Counts the requests that read events, by their source.
public final class ReadCounts: Sendable {
    private let ofMemory = Atomic(0)
    private let ofDatabase = Atomic(0)

    public var fromMemory: Int { ofMemory.load(ordering: .relaxed) }
    public var fromDatabase: Int { ofDatabase.load(ordering: .relaxed) }

    func readIndex() { ofMemory.add(1, ordering: .relaxed) }
    func readDatabase() { ofDatabase.add(1, ordering: .relaxed) }
}
