internal import Foundation
public import Logging
internal import Postgres
internal import Synchronization

/// The number of a history of the log. It rises by one after every loss of the log's end that this process detects.
public struct LogGeneration: Sendable, Hashable, Comparable {
    var number: Int

    public init(number: Int = 0) { self.number = number }

    public static func < (left: LogGeneration, right: LogGeneration) -> Bool { left.number < right.number }
}

/// Detects that the log lost its end. An asynchronous fail-over, a restored volume or a crash without `fsync` removes the last
/// recorded events, and PostgreSQL gives their positions and numbers again.
///
/// A process caches numbers in stock, the log's tail, and the events and the counts of attendances in memory. It keeps each of them with
/// the ``generation`` that was current before the read, and drops it when the generation differs. The exception is a remembered user
/// of a token (`RecentUsers`). It needs no generation, because the append names the id of the token's recorded event: see
/// ``AppendCondition``.
///
/// The evidence is cursors of the log: positions with the ids of their recorded events. They come from the process's own commits,
/// from the pages of ``LogTail``, and from the last recorded event at every check. A ``LogNotifier`` asks PostgreSQL every second
/// whether they are still there. A loss removes all positions after some position. So if a held cursor is still there, every earlier
/// position is too, and an earlier cursor adds no evidence.
///
/// Thread-safe: a lock protects the cursors, an atomic holds the generation.
public final class LogHistory: Sendable {
    private struct State: Sendable {
        /// Ordered by position. The last check found the first of these cursors.
        var cursors: [LogCursor] = []

        /// Drops every other cursor. A busy database may answer no check for minutes, which is no evidence of a loss. The cursors
        /// that stay are evidence of each loss that removes one of them, and the newest one of each loss that ends the log.
        mutating func thinOut() {
            let last = cursors.count - 1
            cursors = cursors.indices.filter { (last - $0).isMultiple(of: 2) }.map { cursors[$0] }
        }
    }

    /// Maximum number of cursors between two checks. If there are more, the history drops every other one, and never the newest.
    static let cursorLimit = 10_000
    /// Number of cursors above which a check is due before the next poll.
    private static let fewCursors = 128

    /// Emits an element whenever a check is due. One ``LogNotifier`` reads it.
    let dueChecks: AsyncStream<Void>
    private let checkIsDue: AsyncStream<Void>.Continuation
    private let number = Atomic(0)
    private let state = Mutex(State())
    private let cursorLimit: Int
    private let logger: Logger

    public convenience init(logger: Logger) { self.init(cursorLimit: Self.cursorLimit, logger: logger) }

    init(cursorLimit: Int, logger: Logger) {
        self.cursorLimit = cursorLimit
        self.logger = logger
        (dueChecks, checkIsDue) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The current generation, as far as this process knows.
    public var generation: LogGeneration { LogGeneration(number: number.load(ordering: .acquiring)) }

    /// Keeps a cursor of the log as evidence for the next check.
    func saw(_ cursor: LogCursor) {
        guard cursor.id != nil else { return }
        state.withLock { saw(cursor, &$0) }
    }

    /// Makes a check due now, for example after a broken connection.
    func askForCheck() { checkIsDue.yield() }

    /// Asks the database for all cursors.
    /// - Returns: the position of the last recorded event; 0 for an empty log
    /// - Throws: `PostgresError`, or `CancellationError`
    func check(_ client: PostgresClient) async throws -> Int64 {
        let (asked, before) = state.withLock { ($0.cursors, generation) }
        let answers = try await client.run([
            "SELECT position, id FROM log.recorded_events WHERE position = ANY(\(asked.map(\.position)))", LogCursor.newest,
        ])
        let found = Set(try answers[0].decodeCursors())
        let newest = try answers[1].decodeCursors().first
        state.withLock { state in
            guard before == generation else { return }
            if !found.isSuperset(of: asked) { lose(&state) } else { state.cursors.removeAll(where: found.contains) }
            if let newest { saw(newest, &state, isChecked: true) }
        }
        return newest?.position ?? 0
    }

    private func saw(_ cursor: LogCursor, _ state: inout State, isChecked: Bool = false) {
        if let last = state.cursors.last, last.position >= cursor.position,
            let index = state.cursors.firstIndex(where: { $0.position >= cursor.position })
        {
            if state.cursors[index] == cursor { return }
            if state.cursors[index].position != cursor.position {
                // The process saw later cursors while the check ran.
                if isChecked { state.cursors.insert(cursor, at: index) }
                return
            }
            lose(&state)
        }
        state.cursors.append(cursor)
        if state.cursors.count > cursorLimit { state.thinOut() }
        if state.cursors.count > Self.fewCursors { checkIsDue.yield() }
    }

    private func lose(_ state: inout State) {
        state.cursors = []
        number.add(1, ordering: .releasing)
        checkIsDue.yield()
        logger.critical("the log lost its end; what this process keeps of it is dropped")
    }
}

extension LogHistory: CommitListener {
    public func committed(_ commit: Commit) {
        let isBehind = state.withLock { state in
            let isBehind = commit.firstPosition <= state.cursors.last?.position ?? 0
            let isTaken =
                isBehind
                && state.cursors.contains { cursor in
                    guard (commit.firstPosition...commit.through).contains(cursor.position) else { return false }
                    return commit.envelopes[Int(cursor.position - commit.firstPosition)].id != cursor.id
                }
            // The log gives each position once, unless it lost its end.
            if isTaken { lose(&state) }
            saw(commit.end, &state)
            return isBehind
        }
        // Two transactions are in flight, so their commits may arrive out of order. The check decides.
        if isBehind { checkIsDue.yield() }
    }
}

extension LogCursor {
    /// Selects the last cursor of the log; no row for an empty log. In a pipeline it sees at least as much as the statement
    /// before it.
    fileprivate static let newest: SQL = "SELECT position, id FROM log.recorded_events ORDER BY position DESC LIMIT 1"
}

extension Rows {
    /// - Throws: `PostgresError`
    fileprivate func decodeCursors() throws -> [LogCursor] {
        try decode((Int64, UUID).self).map { LogCursor(position: $0, id: $1) }
    }
}
