internal import Encoding
internal import Foundation
public import Logging
public import Postgres
internal import Synchronization

/// The number of a history of the log. It rises by one after every loss of the log's end that this process detects.
public struct LogGeneration: Sendable, Hashable {
    var number: Int

    public init(number: Int = 0) { self.number = number }
}

/// Detects that the log lost its end. An asynchronous fail-over, a restored volume or a crash without `fsync` removes the last
/// recorded events, and PostgreSQL gives their positions and numbers again.
///
/// A process caches the log's tail and the events in memory. It keeps each of them with the ``generation`` that was current before the
/// read, and drops it when the generation differs. The exception is a remembered user of a token (`RecentUsers`). It needs no
/// generation, because the append names the id of the token's recorded event: see ``AppendCondition``. A number that the sequence gives
/// again needs none either: the version of its stream conflicts, and the command takes another number.
///
/// The evidence is cursors of the log: positions with marks of their recorded events. They come from the process's own commits,
/// from the pages of ``LogTail``, from loads, and from the last recorded event at every check. A second mark of a remembered position
/// is a loss at once. For the rest a ``LogNotifier`` asks PostgreSQL every second whether the cursors are still there. A loss removes all
/// positions after some position. So if a held cursor is still there, every earlier position is too, and an earlier cursor adds no
/// evidence.
///
/// A client that sends a cursor back asks the same question: ``cursor(at:)`` tells whether it is one of this history.
///
/// Thread-safe: a lock protects the marks, an atomic holds the generation.
public final class LostEndDetector: Sendable {
    /// Maximum number of cursors between two checks. If there are more, the detector drops every other one, and never the newest.
    static let cursorLimit = 10_000
    /// Maximum number of marks that the process remembers, in 2 MB. Then it forgets the older half, and asks PostgreSQL for these.
    private static let rememberedLimit = 60_000

    private struct Marks {
        /// The last cursor that a check found, and the cursors that came after it.
        var unchecked: [Int64: UInt32] = [:]
        /// The cursors of the present generation: new cursors must agree with them, and clients may send them back.
        var remembered: [Int64: UInt32] = [:]

        mutating func remember(_ cursor: LogCursor) {
            guard cursor.position > 0, cursor.mark != nil else { return }
            if remembered.count >= rememberedLimit {
                let middle = remembered.keys.sorted()[remembered.count / 2]
                remembered = remembered.filter { $0.key >= middle }
            }
            remembered[cursor.position] = cursor.mark
        }
    }

    /// Emits an element whenever a check is due. One ``LogNotifier`` reads it.
    let dueChecks: AsyncStream<Void>
    private let checkIsDue: AsyncStream<Void>.Continuation
    private let number = Atomic(0)
    private let marks = Mutex(Marks())
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
    package func saw(_ cursor: LogCursor) { marks.withLock { saw([cursor], &$0) } }

    /// Keeps the end of a page as evidence, and remembers its recorded events.
    func saw(_ page: LogPage) {
        let cursors = page.events.map { LogCursor(position: $0.position, of: $0.envelope) } + [page.end]
        marks.withLock { saw(cursors, &$0) }
    }

    /// The cursor of this history at a position, as far as this process remembers it.
    public func cursor(at position: Int64) -> LogCursor? {
        guard position > 0 else { return LogCursor(position: 0) }
        return marks.withLock { $0.remembered[position] }.map { LogCursor(position: position, mark: $0) }
    }

    /// The cursor of this history at a position; asks the database if the process does not remember it.
    /// - Returns: `nil` if the log does not reach the position
    /// - Throws: `PostgresError`, or `CancellationError`
    public func cursor(at position: Int64, _ client: PostgresClient) async throws -> LogCursor? {
        if let cursor = cursor(at: position) { return cursor }
        let before = generation
        let found = try await LogReader(client: client).cursor(at: position)
        guard found.mark != nil else { return nil }
        marks.withLock { if before == generation { $0.remember(found) } }
        return found
    }

    /// Makes a check due now, for example after a broken connection.
    func askForCheck() { checkIsDue.yield() }

    /// Asks the database for all cursors.
    /// - Returns: the position of the last recorded event; 0 for an empty log
    /// - Throws: `PostgresError`, or `CancellationError`
    func check(_ client: PostgresClient) async throws -> Int64 {
        let (asked, before) = marks.withLock { ($0.unchecked, generation) }
        let answers = try await client.run([
            "SELECT position, id, recorded_at FROM log.recorded_events WHERE position = ANY(\(Array(asked.keys)))",
            // In a pipeline it sees at least as much as the statement before it.
            "SELECT position, id, recorded_at FROM log.recorded_events ORDER BY position DESC LIMIT 1",
        ])
        let cursors = try answers.map {
            try $0.decode((Int64, UUID, Timestamp).self).map { LogCursor(position: $0, id: $1, recordedAt: $2) }
        }
        let isWhole = cursors[0].count == asked.count && cursors[0].allSatisfy { asked[$0.position] == $0.mark }
        let newest = cursors[1].first
        marks.withLock { marks in
            guard before == generation else { return }
            if isWhole { marks.unchecked = marks.unchecked.filter { asked[$0.key] == nil } } else { lose(&marks) }
            if let newest { saw([newest], &marks) }
        }
        return newest?.position ?? 0
    }

    /// Remembers cursors of the log, in order, and keeps the last one as evidence for the next check.
    private func saw(_ cursors: [LogCursor], _ marks: inout Marks) {
        // The log gives each position once, unless it lost its end.
        let isOfThisHistory = cursors.allSatisfy {
            $0.agrees(with: LogCursor(position: $0.position, mark: marks.remembered[$0.position]))
        }
        if !isOfThisHistory { lose(&marks) }
        for cursor in cursors { marks.remember(cursor) }
        guard let end = cursors.last, end.position > 0, let mark = end.mark else { return }
        marks.unchecked[end.position] = mark
        guard marks.unchecked.count > cursorLimit else { return }
        // A busy database may answer no check for minutes, which is no evidence of a loss. The cursors that stay are evidence of each loss
        // that removes one of them, and the newest one of each loss that ends the log.
        for (index, position) in marks.unchecked.keys.sorted(by: >).enumerated() where !index.isMultiple(of: 2) {
            marks.unchecked[position] = nil
        }
    }

    private func lose(_ marks: inout Marks) {
        marks = Marks()
        number.add(1, ordering: .releasing)
        checkIsDue.yield()
        logger.critical("the log lost its end; what this process keeps of it is dropped")
    }
}

extension LostEndDetector: CommitListener {
    public func committed(_ commit: Commit) {
        let cursors = zip(commit.firstPosition..., commit.envelopes).map { LogCursor(position: $0, of: $1) }
        marks.withLock { saw(cursors, &$0) }
    }
}
