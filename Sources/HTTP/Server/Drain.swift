internal import Synchronization

/// Whether the node is about to stop: it still answers, tells that it is to be sent nothing more, and lets its connections end.
public final class Drain: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var hasBegun: Bool { flag.load(ordering: .relaxed) }

    public func begin() { flag.store(true, ordering: .relaxed) }
}
