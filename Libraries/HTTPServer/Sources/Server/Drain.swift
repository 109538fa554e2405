internal import Synchronization

/// Whether the server is about to stop. It still responds, but each response is the last on its connection, and streams end.
public final class Drain: Sendable {
    private let flag = Atomic(false)
    private let actions = Mutex<[@Sendable () -> Void]>([])

    public init() {}

    public var hasBegun: Bool { flag.load(ordering: .acquiring) }

    public func begin() {
        flag.store(true, ordering: .releasing)
        let actions = actions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in actions { action() }
    }

    /// Calls the action once when the drain begins; immediately if it has begun.
    func onBegin(_ action: @escaping @Sendable () -> Void) {
        let isLate = actions.withLock { actions in
            // Asked once: the drain may begin between two questions, and would call the action twice.
            let isLate = hasBegun
            if !isLate { actions.append(action) }
            return isLate
        }
        if isLate { action() }
    }
}
