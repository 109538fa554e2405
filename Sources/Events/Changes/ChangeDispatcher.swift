internal import EventStore

/// Decides which streams get which lines. One task owns it, so that joins and changes have one order: a stream that joins gets
/// the changes of the ring after its position, and then each later change once.
struct ChangeDispatcher {
    enum Item: Sendable {
        case loaded(at: LogCursor)
        case applied([EventChange], through: LogCursor)
        case closed
        case join(ChangeSubscription)
        case leave(number: Int)
        /// The server ends a stream, and its client continues at another node.
        case end(number: Int)
        /// The next slot of heartbeats is due.
        case tick
    }

    /// Number of groups of streams that get their heartbeats one after another.
    static let slots = 15

    /// `nil` while the index is out of use.
    private(set) var ring: ChangeRing?
    private(set) var subscriptions = SubscriptionIndex()
    private(set) var sent = 0
    private(set) var resets = 0
    private var slot = 0

    mutating func handle(_ item: Item) {
        switch item {
        case .loaded(let cursor):
            resetAll()
            ring = ChangeRing(at: cursor)
        case .applied(let changes, let cursor):
            for change in changes { apply(change) }
            ring?.reached(cursor)
        case .closed:
            resetAll()
            ring = nil
        case .join(let subscription): join(subscription)
        case .leave(let number): _ = subscriptions.remove(number)
        case .end(let number): if let subscription = subscriptions.remove(number) { end(subscription) }
        case .tick:
            beat()
            ring?.forgetErased()
        }
    }

    private mutating func apply(_ change: EventChange) {
        guard let end = ring?.end, change.position > end.position else { return }
        ring?.append(change)
        // Rendered at the first stream that gets them, and shared by all streams.
        lazy var put = ChangeLines.put(change.cursor, change.json)
        lazy var gone = ChangeLines.gone(change.cursor, change.id)
        var sent = 0
        func send(_ lines: [UInt8], to subscription: ChangeSubscription) {
            guard subscription.after?.position ?? .max < change.position else { return }
            subscription.sink(lines)
            sent += 1
        }
        if let after = change.after {
            subscriptions.forEach(near: after.coordinates) { subscription in
                if subscription.filter.shows(after, with: change.words) { send(put, to: subscription) }
            }
        }
        if let before = change.before {
            subscriptions.forEach(near: before.coordinates) { subscription in
                // The client may not have it, because its words before are not known here.
                guard subscription.filter.shows(before) else { return }
                let isShown = change.after.map { subscription.filter.shows($0, with: change.words) } ?? false
                if !isShown { send(gone, to: subscription) }
            }
        }
        self.sent += sent
    }

    private mutating func join(_ subscription: ChangeSubscription) {
        guard let after = subscription.after, let ring, let replay = ChangeReplay(of: ring, for: subscription, after: after)
        else { return reset(subscription) }
        subscription.sink(replay.lines)
        sent += replay.count
        subscriptions.insert(subscription)
    }

    /// Tells the client to read its list again.
    private mutating func reset(_ subscription: ChangeSubscription) {
        subscription.sink(ChangeLines.reset)
        subscription.sink(nil)
        resets += 1
    }

    private mutating func resetAll() {
        for subscription in subscriptions.all { reset(subscription) }
        subscriptions = SubscriptionIndex()
    }

    /// Sends the heartbeats of one slot, so that not all clients get theirs at once.
    private mutating func beat() {
        slot = (slot + 1) % Self.slots
        guard let end = ring?.end else { return }
        let heartbeat = ChangeLines.heartbeat(at: end)
        for subscription in subscriptions.all where subscription.number % Self.slots == slot {
            subscription.sink(subscription.isAhead(of: end) ? ChangeLines.waiting : heartbeat)
        }
    }

    /// Ends every stream, without a reset: its client continues at another node.
    mutating func endAll() {
        for subscription in subscriptions.all { end(subscription) }
        subscriptions = SubscriptionIndex()
    }

    /// The last line has the position that the client has reached, so that another node can continue from there.
    private func end(_ subscription: ChangeSubscription) {
        if let end = ring?.end, !subscription.isAhead(of: end) {
            subscription.sink(ChangeLines.heartbeat(at: end))
        }
        subscription.sink(nil)
    }
}

extension ChangeSubscription {
    fileprivate func isAhead(of end: LogCursor) -> Bool { after?.position ?? 0 > end.position }
}
