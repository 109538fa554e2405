internal import Encoding
public import EventStore
internal import Postgres
internal import SpatialIndex
internal import Synchronization

/// The result of a comparison of a node's index with the read model at one position.
public struct IndexVerification: Sendable, Hashable {
    /// The cursor at which both were compared.
    public let cursor: LogCursor
    /// Number of compared events: the events of the read model that are neither cancelled nor hidden, and did not change meanwhile.
    public fileprivate(set) var events = 0
    public fileprivate(set) var differing = 0
    /// The first differences, one sentence each. A sentence may name an event and its version, never the event's details.
    public fileprivate(set) var differences: [String] = []

    /// The events that changed meanwhile, which were not compared.
    fileprivate(set) var changed: Set<EventID> = []
    /// The differing events as the read model has them, ``mendingLimit`` at most.
    fileprivate(set) var mends: [EventID: IndexChanges.Outcome] = [:]

    /// Maximum number of differences in the list.
    private static let told = 20
    /// Maximum number of differences that are mended. A load costs less than the mending of more.
    static let mendingLimit = 10_000

    fileprivate mutating func note(_ difference: String, events: Int = 1) {
        differing += events
        if differences.count < Self.told { differences.append(difference) }
    }

    fileprivate mutating func mend(_ id: EventID, by outcome: IndexChanges.Outcome) {
        if mends.count < Self.mendingLimit { mends[id] = outcome }
    }
}

/// The index loads, or is too old. The same request may succeed later.
public struct IndexNotInUseError: Error, Hashable, CustomStringConvertible {
    public var description: String { "the index is not in use" }
}

/// The read model did not reach the position of the index in time.
struct ReadModelBehindError: Error, Hashable, CustomStringConvertible {
    var position: Int64
    var description: String { "the read model does not reach position \(position), which the index has" }
}

extension InMemoryReadModel {
    private static let (attempts, attemptSeconds) = (50, 0.1)

    /// Compares events while the index changes. It takes digests of the index's present content and the later changes in the log, and
    /// compares both with the read model in one transaction. A node makes one comparison at a time, because each one holds the digests
    /// and a connection; another one waits for its turn.
    /// - Throws: ``IndexNotInUseError``, `ReadModelBehindError`, `PostgresError`, `CancellationError`
    func examine() async throws -> IndexVerification {
        while !content.isCompared.withLock({ isCompared in
            defer { isCompared = true }
            return !isCompared
        }) {
            try await Task.sleep(for: .seconds(Self.attemptSeconds))
        }
        defer { content.isCompared.withLock { $0 = false } }
        guard state.isInUse else { throw IndexNotInUseError() }
        // No variable keeps the snapshot: see ``IndexDigest``.
        let digest = try await IndexDigest(of: content.index.snapshot)
        for _ in 0..<Self.attempts {
            if let verification = try await examine(digest) { return verification }
            // If another version of the program appends, the read model follows the log later, and the index may be ahead of it.
            try await Task.sleep(for: .seconds(Self.attemptSeconds))
        }
        throw ReadModelBehindError(position: digest.position)
    }

    /// - Returns: nil if the read model is behind the index, or if other tables replaced its tables during the comparison
    private func examine(_ digest: IndexDigest) async throws -> IndexVerification? {
        try await withTables(atLeast: digest.position) { connection, end in
            let changed = try await changes(after: digest.position, through: end, connection)
            let cursor = try await LogReader(client: connection).cursor(at: end)
            let comparison = RowComparison(with: digest, changed: changed, at: cursor, render: content.render)
            try await connection.withoutTimeout { connection in
                try await EventRow.copyAll(connection) { rows in
                    try rows.forEach { try comparison.take(&$0) }
                }
            }
            return comparison.result()
        }
    }

    /// Finds the events that changed in a range of the log.
    private func changes(after position: Int64, through end: Int64, _ connection: LeasedConnection) async throws -> Set<EventID> {
        let reader = LogReader(client: connection)
        var (changed, position): (Set<EventID>, _) = ([], position)
        while position < end {
            let page = try await reader.page(
                after: position, limit: min(LogTail.pageLimit, end - position),
                filter: LogFilter(categories: [EventDomainEvent.category]))
            // The log ends before the tables do.
            guard page.through > position else { throw InMemoryReplacedError() }
            changed.formUnion(page.events.compactMap { EventID(stream: $0.envelope.stream) })
            position = page.through
        }
        return changed
    }
}

/// Compares the rows of the read model with a digest of the index, on the connection's thread.
private final class RowComparison: Sendable {
    private struct State: Sendable {
        var verification: IndexVerification
        /// For each event of the digest, by its offset, whether the read model shows it.
        var isShown: [Bool]
    }

    private let index: IndexDigest
    private let changed: Set<EventID>
    private let render: EventRendering
    private let state: Mutex<State>

    /// - Parameter changed: the events that changed after the digest, which are not compared
    init(with index: IndexDigest, changed: Set<EventID>, at cursor: LogCursor, render: @escaping EventRendering) {
        self.index = index
        self.changed = changed
        self.render = render
        state = Mutex(
            State(
                verification: IndexVerification(cursor: cursor, changed: changed),
                isShown: Array(repeating: false, count: index.count)))
    }

    func take(_ row: inout CopiedRow) throws {
        let event = try Event(&row)
        guard event.isLive, !changed.contains(event.id) else { return }
        let stored = HeldEvent(event, by: render)
        state.withLock { state in
            guard let difference = difference(of: event.id, stored, &state) else { return }
            state.verification.note(difference)
            state.verification.mend(event.id, by: IndexChanges.Outcome(version: event.version, event: stored))
        }
    }

    private func difference(of id: EventID, _ event: HeldEvent, _ state: inout State) -> String? {
        state.verification.events += 1
        let number = id.rawValue
        guard let offset = index.offset(of: id) else { return "event \(number) is held with version 0, not \(event.version)" }
        state.isShown[offset] = true
        let held = index[offset]
        guard held.version == event.version else {
            return "event \(number) is held with version \(held.version), not \(event.version)"
        }
        guard held.digest == IndexDigest.digest(of: event) else { return "event \(number) is held with other content" }
        return index.misplaced.contains(id) ? "event \(number) is not found at its place" : nil
    }

    /// Call this behind the last row of the read model.
    func result() -> IndexVerification {
        state.withLock { state in
            var surplus: Set<EventID> = []
            for (offset, isShown) in state.isShown.enumerated() where !isShown { surplus.insert(index[offset].id) }
            surplus.subtract(changed)
            if !surplus.isEmpty {
                state.verification.note("\(surplus.count) events are held that are not there", events: surplus.count)
            }
            for id in surplus { state.verification.mend(id, by: IndexChanges.Outcome(version: 0, event: nil)) }
            return state.verification
        }
    }
}
