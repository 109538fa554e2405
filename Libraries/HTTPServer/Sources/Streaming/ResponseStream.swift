internal import NIOCore
internal import Synchronization

/// A body without a known end: a producer writes it while the client reads it.
///
/// Over HTTP/1.1 a stream is the last response of its connection.
public struct ResponseStream: Sendable {
    private let produce: @Sendable (ResponseWriter) -> Void
    /// The user whose streams the limits count together.
    let user: String?
    /// Counts the stream. `nil` without a server.
    var permit: StreamPermit?

    /// - Parameters:
    ///   - user: the user whose streams the limits count together; `nil` if it is unknown
    ///   - produce: called once, on the event loop, after the head is written; not called for HEAD and for a client that has
    ///     disconnected. It must not wait. It keeps the writer for as long as it writes.
    public init(user: String? = nil, _ produce: @escaping @Sendable (ResponseWriter) -> Void) {
        self.user = user
        self.produce = produce
    }

    fileprivate func open(_ outlet: any StreamOutlet, onClose: @escaping @Sendable () -> Void) -> ResponseWriter {
        let writer = ResponseWriter(outlet, permit)
        writer.onClose(onClose)
        permit?.streams.add(writer)
        produce(writer)
        return writer
    }
}

/// The open streams of one connection, which may be silent while it has some.
final class ConnectionStreams: Sendable {
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Connects a writer with the channel, and hands it to the producer.
    /// - Returns: the writer, which the connection tells when the client has disconnected
    func open(_ stream: ResponseStream, _ outlet: any StreamOutlet) -> ResponseWriter {
        count.add(1, ordering: .relaxed)
        return stream.open(outlet) { [self] in count.subtract(1, ordering: .relaxed) }
    }
}

/// The way of a stream into its channel. Belongs to the event loop of the channel.
protocol StreamOutlet {
    var eventLoop: any EventLoop { get }
    var budget: BufferBudget { get }
    /// The bytes that the channel holds because the client has not read them, less at most ``BufferBudget/trackedBytes``.
    var unsentBytes: Int { get }

    func write(_ bytes: ByteBuffer)
    /// Ends the body properly.
    func finish()
    /// Disconnects the client.
    func abort()
}
