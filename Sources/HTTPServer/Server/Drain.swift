internal import Synchronization

/// Whether the server is about to stop. It still responds, but each response is the last on its connection.
public final class Drain: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var hasBegun: Bool { flag.load(ordering: .relaxed) }

    public func begin() { flag.store(true, ordering: .relaxed) }
}
