internal import SpatialIndex
internal import Synchronization

/// How the index of a node is, for operators and their tools.
public struct IndexStatus: Sendable, Hashable {
    public enum Phase: String, Sendable, CaseIterable {
        case off
        /// For the first time since the process was started.
        case filling
        case inUse = "in_use"
        /// The events need more than they may take.
        case tooSmall = "too_small"
        /// It had to be given up, and is filled again.
        case interrupted
    }

    public var phase: Phase
    /// Up to which it has followed the log.
    public var position: Int64
    public var events: Int
    /// Held for them.
    public var bytes: Int
    public var limitBytes: Int
    /// Since it was last known to hold all that the log has.
    public var age: Duration

    /// Whether the log goes on with a recorded event that this program cannot read: the index stays as it was before it.
    public var standsBeforeUnreadable: Bool

    /// In use, and not known to be the newest.
    public var isStale: Bool { phase == .inUse && age > EventsModule.staleAfter }

    /// How many requests were answered from the index, and how many from PostgreSQL.
    public var readsFromMemory: Int
    public var readsFromDatabase: Int
}

extension EventsModule {
    public var indexStatus: IndexStatus {
        let snapshot = index?.index.snapshot
        return IndexStatus(
            phase: index?.standing.phase ?? .off, position: max(snapshot?.position ?? 0, 0), events: snapshot?.count ?? 0,
            bytes: snapshot?.bytes ?? 0, limitBytes: index?.limitBytes ?? 0, age: index?.standing.age ?? .zero,
            standsBeforeUnreadable: index?.standing.standsBeforeUnreadable ?? false,
            readsFromMemory: reads.fromMemory,
            readsFromDatabase: reads.fromDatabase)
    }

    /// Returns as soon as reads are answered from where they are to be answered from.
    public func untilReady() async {
        guard let index else { return }
        for await _ in index.standing.beginning {}
    }

    /// - Throws: ``IndexNotInUseError``, and what PostgreSQL fails with
    public func examineMemory() async throws -> IndexVerification {
        guard let index else { throw IndexNotInUseError() }
        return try await index.examine()
    }
}

/// How many readings there were.
final class ReadCounts: Sendable {
    private let ofMemory = Atomic(0)
    private let ofDatabase = Atomic(0)

    var fromMemory: Int { ofMemory.load(ordering: .relaxed) }
    var fromDatabase: Int { ofDatabase.load(ordering: .relaxed) }

    func readIndex() { ofMemory.add(1, ordering: .relaxed) }
    func readDatabase() { ofDatabase.add(1, ordering: .relaxed) }
}
