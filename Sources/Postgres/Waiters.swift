internal import DequeModule

/// Callers that wait for a connection.
struct Waiters: Sendable {
    enum Purpose {
        case share
        case borrow
    }

    /// One connection serves all of them.
    private var sharing: [ObjectIdentifier: Reply<Void>] = [:]
    /// One connection serves one of them; waking all would have a thousand compete for it each time.
    private var borrowing: Deque<Reply<Void>> = []

    var count: Int { sharing.count + borrowing.count }

    mutating func add(_ waiter: Reply<Void>, for purpose: Purpose) {
        switch purpose {
        case .share: sharing[ObjectIdentifier(waiter)] = waiter
        case .borrow: borrowing.append(waiter)
        }
    }

    /// Once it was woken there is nothing to remove.
    mutating func remove(_ waiter: Reply<Void>) {
        sharing[ObjectIdentifier(waiter)] = nil
        if let index = borrowing.firstIndex(where: { $0 === waiter }) { borrowing.remove(at: index) }
    }

    /// A connection is to be had. Whoever is woken must look for it, or it stays idle while others wait.
    mutating func wakeForOneConnection() {
        for waiter in sharing.values { waiter.resolve(.success(())) }
        sharing = [:]
        while let waiter = borrowing.popFirst() {
            // One that gave up in this moment does not look.
            if waiter.resolve(.success(())) { break }
        }
    }

    mutating func wakeAll() {
        for waiter in sharing.values + borrowing { waiter.resolve(.success(())) }
        self = Waiters()
    }
}
