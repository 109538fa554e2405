public import EventStore
internal import SpatialIndex
internal import Synchronization

/// The status of a node's index, for operators and their tools.
public struct IndexStatus: Sendable, Hashable {
    public typealias Phase = InMemoryPhase

    public var phase: Phase
    /// The index holds the log up to this position.
    public var position: Int64
    public var events: Int
    /// Bytes of memory that the events take. An earlier state of the index counts while a reader holds it.
    public var bytes: Int
    public var limitBytes: Int
    /// The part of the limit that the events take.
    public var memoryPercent: Int { limitBytes == 0 ? 0 : 100 * bytes / limitBytes }
    /// The time since the index was last known to hold the whole log.
    public var age: Duration

    /// Whether this program cannot read the next recorded event of the log. The index then stays at the position before it.
    public var isBlockedByUnreadableEvent: Bool

    /// Whether the index is in use and may lack the newest events.
    public var isStale: Bool

    /// Number of requests that the index answered.
    public var readsFromMemory: Int
    /// Number of requests that PostgreSQL answered.
    public var readsFromDatabase: Int
}

extension EventsModule {
    public var indexStatus: IndexStatus {
        let (state, content) = (index?.state, index?.content)
        return IndexStatus(
            phase: state?.phase ?? .off, position: state?.position ?? 0, events: content?.count ?? 0,
            bytes: content?.bytes ?? 0, limitBytes: content?.limitBytes ?? 0, age: state?.age ?? .zero,
            isBlockedByUnreadableEvent: state?.isBlockedByUnreadableEvent ?? false,
            isStale: state?.isInUse == true && state?.staleFor != nil,
            readsFromMemory: reads.fromMemory,
            readsFromDatabase: reads.fromDatabase)
    }

    /// Returns when the source of reads is decided: the index, or PostgreSQL without an index.
    public func untilReady() async {
        guard let index else { return }
        for await _ in index.state.beginning {}
    }

    /// Compares the events of the index with the read model.
    /// - Parameter sample: compares about this number of events, chosen at random; `nil` compares all. With a sample, events that the read
    ///   model lacks are not found
    /// - Throws: ``IndexNotInUseError``, `ReadModelBehindError`, `PostgresError`, `CancellationError`
    public func verifyIndex(sample: Int? = nil) async throws -> IndexVerification {
        guard let index else { throw IndexNotInUseError() }
        return try await index.examine(sample: sample)
    }
}

/// Counts the requests that read events, by their source.
final class ReadCounts: Sendable {
    private let ofMemory = Atomic(0)
    private let ofDatabase = Atomic(0)

    var fromMemory: Int { ofMemory.load(ordering: .relaxed) }
    var fromDatabase: Int { ofDatabase.load(ordering: .relaxed) }

    func readIndex() { ofMemory.add(1, ordering: .relaxed) }
    func readDatabase() { ofDatabase.add(1, ordering: .relaxed) }
}
