package import EventStore
internal import ServiceLifecycle
internal import Synchronization

/// Follows the changes of the in-memory index, keeps the last ones, and sends them to the open streams.
///
/// The index only appends to a queue under a lock, so that its writers never wait for streams. One task takes the queue in order.
/// Thread-safe.
package final class ChangeFeed: Service {
    /// Seconds between two heartbeats of a stream.
    package static let heartbeatSeconds = 15.0
    /// Maximum number of changes in the queue. A longer queue resets the streams.
    private static let queueLimit = 20_000
    /// Maximum number of changes that wait for the next tick while no stream is open.
    private static let restLimit = 1_000
    /// Number of streams that wait for their first lines above which the node has no room for more.
    private static let joinLimit = 2_000

    private struct Queue {
        var items: [ChangeDispatcher.Item] = []
        /// The streams that wait for their first lines, by number. They stand apart so that a stream that leaves while it waits costs
        /// nothing, and that changes need not wait for all of them.
        var joins: [Int: ChangeSubscription] = [:]
        /// The number of the next stream to join. No stream with a lower number waits.
        var nextJoin = 1
        var changes = 0
        /// The end of the log in the index; `nil` while it loads.
        var end: LogCursor?
        var subscriptions = 0
        /// Whether a stream is open or joins. Without one the changes wait for the next tick, so that a commit wakes no task.
        var hasStreams = false

        /// Everything that happened, and the next stream to join after it.
        mutating func next() -> [ChangeDispatcher.Item] {
            defer { (items, changes) = ([], 0) }
            while nextJoin <= subscriptions {
                defer { nextJoin += 1 }
                if let subscription = joins.removeValue(forKey: nextJoin) { return items + [.join(subscription)] }
            }
            return items
        }
    }

    private let queue = Mutex(Queue())
    private let published = Mutex(ChangeFeedStatus())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let heartbeatSeconds: Double

    package init(heartbeatSeconds: Double = ChangeFeed.heartbeatSeconds) {
        self.heartbeatSeconds = heartbeatSeconds
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var status: ChangeFeedStatus { published.withLock { $0 } }

    /// The cursor up to which streams have or will get every change; `nil` while the index loads.
    var end: LogCursor? { queue.withLock { $0.end } }

    /// Whether few enough streams wait for their first lines.
    var hasRoom: Bool { queue.withLock { $0.joins.count < Self.joinLimit } }

    /// Opens a stream: the sink gets the changes after a cursor, and then each later change, once and in order.
    /// - Parameters:
    ///   - cursor: `nil` if the client's is not one of this log
    ///   - present: returns an event of the present index
    /// - Returns: the number of the stream, for ``leave(_:)`` and ``end(_:)``
    func join(
        _ search: ChangeSearch, after cursor: LogCursor?, sink: @escaping ChangeSink, present: @escaping ChangeSubscription.Lookup
    ) -> Int {
        append { queue in
            queue.hasStreams = true
            queue.subscriptions += 1
            let number = queue.subscriptions
            queue.joins[number] = ChangeSubscription(number, search, after: cursor, sink: sink, present: present)
            return number
        }
    }

    /// Closes a stream. Its sink gets no further lines.
    func leave(_ number: Int) {
        append { if $0.joins.removeValue(forKey: number) == nil { $0.items.append(.leave(number: number)) } }
    }

    /// Ends a stream after the changes so far and a last position, from which its client continues at another node.
    func end(_ number: Int) {
        let waiting = append { queue in
            let waiting = queue.joins.removeValue(forKey: number)
            if waiting == nil { queue.items.append(.end(number: number)) }
            return waiting
        }
        waiting?.sink(nil)
    }

    /// Sends the heartbeats that are due.
    func tick() { append { $0.items.append(.tick) } }

    private func append<Result>(_ change: (inout Queue) -> Result) -> Result {
        let result = queue.withLock { change(&$0) }
        wake.yield()
        return result
    }

    /// Sends changes until the service group shuts down.
    /// - Throws: never; the protocol requires `throws`
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.dispatch() }
                group.addTask {
                    let pause = Duration.seconds(self.heartbeatSeconds / Double(ChangeDispatcher.slots))
                    while (try? await Task.sleep(for: pause)) != nil { self.tick() }
                }
            }
        }
    }

    private func dispatch() async {
        var dispatcher = ChangeDispatcher()
        for await _ in wakes {
            var items = queue.withLock { $0.next() }
            while !items.isEmpty {
                for item in items { dispatcher.handle(item) }
                let status = ChangeFeedStatus(dispatcher)
                published.withLock { $0 = status }
                // Many streams may join in turn.
                await Task.yield()
                items = queue.withLock { queue in
                    let items = queue.next()
                    if items.isEmpty { queue.hasStreams = status.streams > 0 }
                    return items
                }
            }
        }
        dispatcher.endAll()
        let waiting = queue.withLock { queue in
            defer { queue.joins = [:] }
            return queue.joins.values
        }
        for subscription in waiting { subscription.sink(nil) }
    }
}

extension ChangeFeed: EventChangeListener {
    package func indexLoaded(at cursor: LogCursor) {
        append { queue in
            queue.end = cursor
            queue.items.append(.loaded(at: cursor))
        }
    }

    package func indexApplied(_ changes: [EventChange], through cursor: LogCursor) {
        let isUrgent = queue.withLock { queue in
            guard queue.end != nil else { return false }
            queue.end = cursor
            queue.changes += changes.count
            if queue.changes <= Self.queueLimit {
                queue.items.append(.applied(changes, through: cursor))
            } else {
                // The task is far behind. The streams miss changes from here on, so their clients read the list again.
                queue.changes = 0
                queue.items.removeAll { if case .applied = $0 { true } else { false } }
                queue.items.append(.loaded(at: cursor))
            }
            return queue.hasStreams || queue.changes > Self.restLimit
        }
        if isUrgent { wake.yield() }
    }

    package func indexClosed() {
        append { queue in
            queue.end = nil
            queue.items.append(.closed)
            // The positions of the waiting streams need not be ones of the next history of the log. Now each gets a reset.
            queue.items += queue.joins.values.map { .join($0) }
            queue.joins = [:]
        }
    }
}

/// The open streams of changes and the ring, for operators.
package struct ChangeFeedStatus: Sendable, Hashable {
    package var streams = 0
    /// Number of changes that were sent, each counted once for each stream.
    package var sent = 0
    /// Number of streams that ended with a reset: their clients read the list again.
    package var resets = 0
    /// Number of changes in the ring.
    package var changes = 0
    /// A client continues from this position or a later one.
    package var firstPosition: Int64 = 0
    package var lastPosition: Int64 = 0

    init() {}

    init(_ dispatcher: ChangeDispatcher) {
        (streams, sent, resets) = (dispatcher.subscriptions.count, dispatcher.sent, dispatcher.resets)
        guard let ring = dispatcher.ring else { return }
        (changes, firstPosition, lastPosition) = (ring.count, ring.floor, ring.end.position)
    }
}
