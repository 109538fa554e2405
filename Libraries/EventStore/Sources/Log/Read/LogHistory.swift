internal import Foundation
public import Logging
internal import Postgres
internal import Synchronization

/// The number of a history of the log. It rises by one after every loss of the log's end that this process detects.
public struct LogGeneration: Sendable, Hashable {
    var number: Int

    public init(number: Int = 0) { self.number = number }
}

/// Detects that the log lost its end. An asynchronous fail-over, a restored volume or a crash without `fsync` removes the last
/// recorded events, and PostgreSQL gives their positions and numbers again.
///
/// A process caches numbers in stock, the log's tail, and the events in memory. It keeps each of them with
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
    /// Maximum number of cursors between two checks. If there are more, the history drops every other one, and never the newest.
    static let cursorLimit = 10_000

    /// Emits an element whenever a check is due. One ``LogNotifier`` reads it.
    let dueChecks: AsyncStream<Void>
    private let checkIsDue: AsyncStream<Void>.Continuation
    private let number = Atomic(0)
    /// The ids of the cursors, by position. The history keeps the last cursor that a check found, and the cursors that came after it.
    private let cursors = Mutex<[Int64: UUID]>([:])
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
    func saw(_ cursor: LogCursor) { cursors.withLock { saw(cursor, &$0) } }

    /// Makes a check due now, for example after a broken connection.
    func askForCheck() { checkIsDue.yield() }

    /// Asks the database for all cursors.
    /// - Returns: the position of the last recorded event; 0 for an empty log
    /// - Throws: `PostgresError`, or `CancellationError`
    func check(_ client: PostgresClient) async throws -> Int64 {
        let (asked, before) = cursors.withLock { ($0, generation) }
        let answers = try await client.run([
            "SELECT position, id FROM log.recorded_events WHERE position = ANY(\(Array(asked.keys)))",
            // In a pipeline it sees at least as much as the statement before it.
            "SELECT position, id FROM log.recorded_events ORDER BY position DESC LIMIT 1",
        ])
        let found = Dictionary(try answers[0].decode((Int64, UUID).self)) { $1 }
        let newest = try answers[1].decode((Int64, UUID).self).first.map { LogCursor(position: $0, id: $1) }
        cursors.withLock { cursors in
            guard before == generation else { return }
            if found == asked { cursors = cursors.filter { asked[$0.key] == nil } } else { lose(&cursors) }
            if let newest { saw(newest, &cursors) }
        }
        return newest?.position ?? 0
    }

    private func saw(_ cursor: LogCursor, _ cursors: inout [Int64: UUID]) {
        guard let id = cursor.id else { return }
        // The log gives each position once, unless it lost its end.
        if cursors[cursor.position, default: id] != id { lose(&cursors) }
        cursors[cursor.position] = id
        guard cursors.count > cursorLimit else { return }
        // A busy database may answer no check for minutes, which is no evidence of a loss. The cursors that stay are evidence of each loss
        // that removes one of them, and the newest one of each loss that ends the log.
        for (index, position) in cursors.keys.sorted(by: >).enumerated() where !index.isMultiple(of: 2) {
            cursors[position] = nil
        }
    }

    private func lose(_ cursors: inout [Int64: UUID]) {
        cursors = [:]
        number.add(1, ordering: .releasing)
        checkIsDue.yield()
        logger.critical("the log lost its end; what this process keeps of it is dropped")
    }
}

extension LogHistory: CommitListener {
    public func committed(_ commit: Commit) {
        cursors.withLock { cursors in
            let isTaken = zip(commit.firstPosition..., commit.envelopes).contains { cursors[$0, default: $1.id] != $1.id }
            if isTaken { lose(&cursors) }
            saw(commit.end, &cursors)
        }
    }
}
