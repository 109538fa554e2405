public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Wakes readers of the log when it may have grown. It wakes them directly after an append of this process, by NOTIFY after an
/// append of another process, and at a fixed interval. A wake is only a hint: readers read the log itself.
public final class LogNotifier: Service {
    private struct State: Sendable {
        var wakes: [Int: AsyncStream<Void>.Continuation] = [:]
        var number = 0
        var hint = Hint()
        /// The highest position that this process has committed.
        var committed = Tail()
    }

    /// The highest known position of the log, in one generation.
    struct Tail: Sendable, Hashable {
        var position: Int64 = 0
        var generation = LogGeneration()

        /// Raises the position; in another generation it replaces the position.
        mutating func learn(_ position: Int64, in generation: LogGeneration) {
            self.position = generation == self.generation ? max(self.position, position) : position
            self.generation = generation
        }
    }

    /// The present knowledge about the end of the log, without a query.
    struct Hint: Sendable {
        /// The log is known to reach this far.
        var tail = Tail()
        /// Number of rounds that woke all readers without a known position.
        var rounds = 0
    }

    static let channel = "log_appended"
    /// Minimum seconds between two NOTIFYs. One NOTIFY announces all appends since the one before.
    static let announcementPauseSeconds = 0.01
    private static let listenAgainSeconds = 0.25
    /// Minimum seconds between two checks of the log's history.
    private static let checkPauseSeconds = 0.1

    /// The history of the watched log. The notifier checks it at every poll, and when a check is due.
    public let history: LogHistory
    private let client: PostgresClient
    private let listens: Bool
    private let pollSeconds: Double
    private let logger: Logger
    private let state = Mutex(State())
    private let announcements = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - client: sends NOTIFY, and keeps one connection to listen
    ///   - listens: whether this process reads the log. Without it, the notifier sends notifications and receives none.
    ///   - pollSeconds: the interval at which every reader wakes in any case
    public init(client: PostgresClient, listens: Bool, pollSeconds: Double = 1, logger: Logger) {
        self.client = client
        // A pooler in transaction mode passes no notifications on, so the notifier polls only.
        self.listens = listens && !client.configuration.isPooled
        self.pollSeconds = pollSeconds
        self.logger = logger
        history = LogHistory(logger: logger)
    }

    /// Emits an element whenever the log may have grown. Elements that arrive while the reader is busy become one.
    package func wakes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.number += 1
            state.wakes[state.number] = continuation
            return state.number
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.wakes.removeValue(forKey: number) } }
        continuation.yield()
        return stream
    }

    var hint: Hint { state.withLock { $0.hint } }

    /// The position that the next announcement carries.
    var committedTail: Int64 { state.withLock { $0.committed.position } }

    /// Wakes the readers. The writer calls it after each commit of this process.
    func grew(to tail: Int64) {
        let generation = history.generation
        state.withLock { $0.committed.learn(tail, in: generation) }
        wakeAll { $0.tail.learn(tail, in: generation) }
        announcements.continuation.yield()
    }

    private func wakeAll(_ learn: (inout Hint) -> Void) {
        let wakes = state.withLock { state in
            learn(&state.hint)
            return Array(state.wakes.values)
        }
        for wake in wakes { wake.yield() }
    }

    private func sendRound() { wakeAll { $0.rounds += 1 } }

    private func heard(_ notification: Notification) {
        guard let tail = Int64(notification.payload) else { return sendRound() }
        if tail < hint.tail.position { history.askForCheck() }
        wakeAll { $0.tail.learn(tail, in: history.generation) }
    }

    /// Sends and receives notifications until shutdown begins. The last append is still announced, because a command may end right
    /// after it.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await withGracefulShutdownHandler {
                    await self.announce()
                } onGracefulShutdown: {
                    self.announcements.continuation.finish()
                }
            }
            group.addTask {
                await cancelWhenGracefulShutdown {
                    await withDiscardingTaskGroup { group in
                        group.addTask { await self.poll() }
                        group.addTask { await self.checkHistory() }
                        if self.listens { group.addTask { await self.listen() } }
                    }
                }
            }
        }
    }

    private func poll() async {
        while (try? await Task.sleep(for: .seconds(pollSeconds))) != nil {
            history.askForCheck()
            sendRound()
        }
    }

    private func checkHistory() async {
        history.askForCheck()
        for await _ in history.dueChecks {
            let before = hint.tail
            do {
                lower(before, to: try await history.check(client))
            } catch {
                logger.debug("the log's history could not be checked", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(Self.checkPauseSeconds))
        }
    }

    /// Lowers a hint that is beyond the end of the log. Otherwise readers would wait until the log passes it again.
    private func lower(_ before: Tail, to position: Int64) {
        let present = Tail(position: position, generation: history.generation)
        guard before.generation != present.generation || before.position > position else { return }
        wakeAll { hint in
            if hint.tail == before { hint.tail = present }
        }
    }

    /// Sends NOTIFY after the commit, in a separate transaction. A NOTIFY inside the append's transaction would hold a lock of
    /// the whole cluster until its commit ends.
    private func announce() async {
        for await _ in announcements.stream {
            let tail = committedTail
            do {
                // A crash loses only a hint with this transaction, so its commit need not wait for the disk.
                try await client.query(
                    "SELECT pg_notify(\(Self.channel), \(String(tail))), set_config('synchronous_commit', 'off', true)")
            } catch {
                logger.debug("an append was not announced; other nodes will find it", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(Self.announcementPauseSeconds))
        }
    }

    private func listen() async {
        while !Task.isCancelled {
            do {
                try await client.withConnection { connection in
                    try await connection.withNotifications(on: Self.channel) { notifications in
                        // Other processes may have announced changes while this one did not listen.
                        sendRound()
                        for await notification in notifications { heard(notification) }
                        // The connection broke.
                        history.askForCheck()
                    }
                }
            } catch {
                logger.debug("not listening for appends of other nodes; polling", metadata: ["error": "\(error)"])
                history.askForCheck()
                try? await Task.sleep(for: .seconds(Self.listenAgainSeconds))
            }
        }
    }
}
