internal import NIOCore
internal import Synchronization

/// Bytes that all connections of a server may keep in memory: responses that clients have not read, and bodies of requests that have
/// not arrived as a whole.
///
/// From half of the limit on, connections whose client has read nothing for ``slowReaderSeconds`` are closed. At the limit, responses
/// of ``trackedBytes`` or more are replaced by 503, and requests with a body are refused. Smaller responses are always sent: a
/// connection has less than ``trackedBytes`` that are not counted.
public final class BufferBudget: Sendable {
    /// Unsent bytes of one connection that are counted together.
    public static let trackedBytes = 16 * 1024
    /// Seconds without progress after which a client is a slow reader.
    static let slowReaderSeconds = 2

    public let limitBytes: Int
    private let used = Atomic(0)
    private let refused = Atomic(0)
    private let closed = Atomic(0)

    public init(limitBytes: Int = 256 * 1024 * 1024) { self.limitBytes = limitBytes }

    /// Bytes in use now.
    public var usedBytes: Int { used.load(ordering: .relaxed) }
    /// Requests that were refused for lack of room so far.
    public var refusals: Int { refused.load(ordering: .relaxed) }
    /// Connections of slow readers that were closed for lack of room so far.
    public var closedConnections: Int { closed.load(ordering: .relaxed) }

    var isUnderPressure: Bool { usedBytes > limitBytes / 2 }

    func add(_ bytes: Int) { used.add(bytes, ordering: .relaxed) }
    func remove(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }

    /// Whether there is room for the memory of a response's body. Counts a refusal if there is none.
    func admits(_ body: ByteBuffer) -> Bool {
        guard body.readableBytes >= Self.trackedBytes, usedBytes + body.storageCapacity > limitBytes else { return true }
        refused.add(1, ordering: .relaxed)
        return false
    }

    /// Counts a part of a request's body, if there is room for it. Counts a refusal if there is none.
    func takeForBody(_ bytes: Int) -> Bool {
        guard used.add(bytes, ordering: .relaxed).newValue > limitBytes else { return true }
        remove(bytes)
        refused.add(1, ordering: .relaxed)
        return false
    }

    func countClosedConnection() { closed.add(1, ordering: .relaxed) }
}
