/// A body without a known end: a producer writes it while the client reads it.
///
/// A stream is the last response of its connection.
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

    /// Connects a writer with the connection, and hands it to the producer.
    /// - Returns: the writer, which the connection tells when the client has disconnected
    func open(_ outlet: StreamOutlet) -> ResponseWriter {
        let writer = ResponseWriter(outlet, permit)
        permit?.streams.add(writer)
        produce(writer)
        return writer
    }
}
