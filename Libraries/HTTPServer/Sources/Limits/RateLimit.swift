internal import Synchronization

/// A number of requests for each window of time, which can change while the server runs. 0 means no limit.
public final class RateLimit: Sendable {
    private let current: Atomic<Int>

    public init(_ number: Int) { current = Atomic(number) }

    public var number: Int {
        get { current.load(ordering: .relaxed) }
        set { current.store(newValue, ordering: .relaxed) }
    }
}
