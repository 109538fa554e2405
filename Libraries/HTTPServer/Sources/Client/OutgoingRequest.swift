package import NIOCore
package import NIOHTTP1
internal import NIOPosix

/// One request of HTTP/1.1 without TLS, on a connection of its own. The doctor and the tests send it.
package struct OutgoingRequest: Sendable {
    package typealias Parts = NIOAsyncChannelInboundStream<HTTPClientResponsePart>

    /// The response ended before it was complete.
    package struct IncompleteResponse: Error {}

    package struct BodyTooLarge: Error {}

    private let host: String
    private let port: Int
    private let head: HTTPRequestHead
    private let body: ByteBuffer
    private let connectTimeout: TimeAmount

    /// - Parameter target: the path, with the query if there is one
    package init(
        _ method: HTTPMethod, _ target: String, host: String = "127.0.0.1", port: Int, headers: HTTPHeaders = [:],
        body: ByteBuffer = ByteBuffer(), connectTimeout: TimeAmount = .seconds(10)
    ) {
        var fields: HTTPHeaders = ["host": "\(host.contains(":") ? "[\(host)]" : host):\(port)"]
        if body.readableBytes > 0 || ![HTTPMethod.GET, .HEAD, .DELETE].contains(method) {
            fields.add(name: "content-length", value: "\(body.readableBytes)")
        }
        fields.add(contentsOf: headers)
        head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: fields)
        (self.host, self.port, self.body, self.connectTimeout) = (host, port, body, connectTimeout)
    }

    /// Sends the request, and closes the connection when the closure returns.
    /// - Parameters:
    ///   - timeLimit: the time for the response; `nil` for no limit
    ///   - receive: gets the parts of the response as they arrive; the last one is `end`, unless the response is incomplete
    /// - Throws: an error of SwiftNIO if no server listens, or if the response is not HTTP or was cut off; `CancellationError`; the errors of the closure
    package func send<Value: Sendable>(
        within timeLimit: TimeAmount? = nil, _ receive: @Sendable (Parts) async throws -> Value
    ) async throws -> Value {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(connectTimeout)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { parts, request in
            let channel = connection.channel
            let end = timeLimit.map { limit in channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) } }
            defer { end?.cancel() }
            try await request.write(contentsOf: [.head(head), .body(.byteBuffer(body)), .end(nil)])
            return try await receive(parts)
        }
    }

    /// Sends the request and collects the response.
    /// - Throws: as ``send(within:_:)``; ``IncompleteResponse``; ``BodyTooLarge``
    package func response(
        within timeLimit: TimeAmount? = nil, bodyLimitBytes: Int
    ) async throws -> (head: HTTPResponseHead, body: ByteBuffer) {
        try await send(within: timeLimit) { parts in
            var (head, body) = (HTTPResponseHead?.none, ByteBuffer())
            for try await part in parts {
                switch part {
                case .head(let received): head = received
                case .body(let bytes):
                    guard body.readableBytes + bytes.readableBytes <= bodyLimitBytes else { throw BodyTooLarge() }
                    body.writeImmutableBuffer(bytes)
                case .end: if let head { return (head, body) }
                }
            }
            throw IncompleteResponse()
        }
    }
}
