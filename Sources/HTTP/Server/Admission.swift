internal import Synchronization

/// Counts the requests under way, those aside that are answered at once. Beyond a limit one more would only make all of them later:
/// it is refused at once, before any work is done for it.
public final class Admission: Sendable {
    private let limit: Int
    private let underWay = Atomic(0)
    private let refused = Atomic(0)

    /// - Parameter limit: requests
    public init(limit: Int) { self.limit = limit }

    /// How many were refused so far.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// How many are being worked on, those among them whose clients have gone away.
    public var requests: Int { underWay.load(ordering: .relaxed) }

    /// Whether one more may come in. Asked before each, so that a refusal is counted.
    func admits() -> Bool {
        if requests < limit { return true }
        refused.add(1, ordering: .relaxed)
        return false
    }

    func begin() { underWay.add(1, ordering: .relaxed) }
    func end() { underWay.subtract(1, ordering: .relaxed) }
}
