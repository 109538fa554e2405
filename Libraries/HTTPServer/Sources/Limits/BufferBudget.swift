internal import NIOCore
internal import Synchronization

/// Limits the bytes that all connections of a server keep in memory: responses that clients have not read, and bodies of
/// requests that have not arrived as a whole.
///
/// From half of the limit on, the server closes connections to clients that have read no byte for ``slowReaderSeconds``. At the
/// limit, a 503 replaces responses of ``trackedBytes`` or more, requests with a body are refused, and a stream ends instead of
/// writing ``trackedBytes`` or more at once. Smaller responses are always sent: a connection has less than ``trackedBytes`` that
/// are not counted.
public final class BufferBudget: Sendable {
    /// The granularity of counting: unsent bytes of one connection are counted in steps of this size.
    public static let trackedBytes = 16 * 1024
    /// Seconds without progress after which a client is a slow reader.
    static let slowReaderSeconds = 2

    public let limitBytes: Int
    private let used = Atomic(0)
    private let refused = Atomic(0)
    private let closed = Atomic(0)

    public init(limitBytes: Int = 256 * 1024 * 1024) { self.limitBytes = limitBytes }

    /// The bytes in use.
    public var usedBytes: Int { used.load(ordering: .relaxed) }
    /// The number of requests refused for lack of room.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// The number of slow readers' connections closed for lack of room.
    public var closedConnections: Int { closed.load(ordering: .relaxed) }

    var isUnderPressure: Bool { usedBytes > limitBytes / 2 }

    func add(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }
    func remove(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

    /// Counts the memory of a response's body from now on, if it is large.
    /// - Returns: `nil` for a small body, which is not refused
    /// - Throws: ``HTTPError/overloaded`` if there is no room, which also counts as a refusal
    func reserve(_ body: ByteBuffer) throws(HTTPError) -> ReservedBytes? {
        guard body.readableBytes >= Self.trackedBytes else { return nil }
        guard take(body.storageCapacity) else { throw .overloaded }
        return ReservedBytes(body.storageCapacity, self)
    }

    /// Counts bytes, if there is room for them. Counts a refusal if there is none.
    func take(_ bytes: Int) -> Bool {
        var present = usedBytes
        while present + bytes <= limitBytes {
            let (isTaken, other) = used.weakCompareExchange(expected: present, desired: present + bytes, ordering: .relaxed)
            if isTaken { return true }
            present = other
        }
        refused.add(1, ordering: .relaxed)
        return false
    }

    /// Counts a part of a stream, if it is small or there is room for it. Counts a refusal if there is none.
    func takeForStream(_ bytes: Int) -> Bool {
        guard bytes < Self.trackedBytes else { return take(bytes) }
        add(bytes)
        return true
    }

    func countClosedConnection() { closed.add(1, ordering: .relaxed) }
}

/// Bytes of a budget that belong to one response. They are free again when the response is dropped, unless its connection counts
/// them.
final class ReservedBytes: Sendable {
    private let bytes: Atomic<Int>
    private let budget: BufferBudget

    /// - Parameter bytes: counted already
    init(_ bytes: Int, _ budget: BufferBudget) {
        self.bytes = Atomic(bytes)
        self.budget = budget
    }

    /// Gives the bytes away. The caller removes them from the budget.
    func handOver() -> Int { bytes.exchange(0, ordering: .relaxed) }

    deinit { budget.remove(handOver()) }
}
