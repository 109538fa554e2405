public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Wakes readers of the log when it may have grown. It wakes them directly after an append of this process, by NOTIFY after an
/// append of another process, and at a fixed interval. A wake is only a hint: readers read the log itself.
public final class LogNotifier: Service {
    private struct State: Sendable {
        var wakes: [Int: AsyncStream<Int64>.Continuation] = [:]
        var number = 0
    }

    static let channel = "log_appended"
    /// Minimum seconds between two NOTIFYs. One NOTIFY announces all appends since the one before.
    static let announcementPauseSeconds = 0.01
    private static let listenAgainSeconds = 0.25
    /// Minimum seconds between two checks of the log's history.
    private static let checkPauseSeconds = 0.1

    /// The history of the watched log. The notifier checks it at every poll, and when a check is due.
    public let history: LostEndDetector
    private let client: PostgresClient
    private let listens: Bool
    private let pollSeconds: Double
    private let logger: Logger
    private let state = Mutex(State())
    /// The log is known to reach this far.
    private let end = Atomic<Int64>(0)
    private let announcements = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))

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
        history = LostEndDetector(logger: logger)
    }

    /// Emits a position whenever the log may have grown to it, and `Int64.max` if the reader is to look at the log in any case, as at the
    /// beginning. A busy reader gets the highest one of the elements that arrived meanwhile.
    package func wakes() -> AsyncStream<Int64> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.number += 1
            state.wakes[state.number] = continuation
            return state.number
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.wakes.removeValue(forKey: number) } }
        continuation.yield(.max)
        return stream
    }

    /// Wakes the readers, and announces the position to other processes. The writer calls it after each commit of this process.
    func grew(to tail: Int64) {
        learn(tail)
        announcements.continuation.yieldHighest(tail)
    }

    /// A reader of the log has read a page.
    func saw(_ page: LogPage) {
        history.saw(page)
        end.max(page.through, ordering: .relaxed)
    }

    private func learn(_ tail: Int64) {
        // A lower end may be an older one, or the end of a log that lost its end.
        if end.max(tail, ordering: .relaxed).oldValue > tail { history.askForCheck() }
        wake(at: tail)
    }

    /// Wakes the readers of this process that have not reached a position, all of them without one.
    package func wake(at position: Int64 = .max) {
        let wakes = state.withLock { Array($0.wakes.values) }
        for wake in wakes { wake.yieldHighest(position) }
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
            wake()
        }
    }

    private func checkHistory() async {
        var generation = history.generation
        history.askForCheck()
        for await _ in history.dueChecks {
            let before = end.load(ordering: .relaxed)
            do {
                let position = try await history.check(client)
                // A loss leaves the announced position beyond the end of the log.
                _ = end.compareExchange(expected: before, desired: position, ordering: .relaxed)
            } catch {
                logger.debug("the log's history could not be checked", metadata: ["error": "\(error)"])
            }
            if history.generation != generation {
                generation = history.generation
                // A reader may stand beyond the end of the log, where no append wakes it.
                wake()
            }
            try? await Task.sleep(for: .seconds(Self.checkPauseSeconds))
        }
    }

    /// Sends NOTIFY after the commit, in a separate transaction. A NOTIFY inside the append's transaction would hold a lock of
    /// the whole cluster until its commit ends.
    private func announce() async {
        for await tail in announcements.stream {
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
                        wake()
                        for await notification in notifications {
                            if let tail = Int64(notification.payload) { learn(tail) } else { wake() }
                        }
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

extension AsyncStream<Int64>.Continuation {
    /// Yields the higher one of a position and of the position that waits in the stream's buffer, which has room for one.
    fileprivate func yieldHighest(_ position: Int64) {
        var position = position
        while case .dropped(let waiting) = yield(position), waiting > position { position = waiting }
    }
}
