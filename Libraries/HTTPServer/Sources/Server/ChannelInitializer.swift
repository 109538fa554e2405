internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPTypesHTTP2
internal import NIOSSL
internal import NIOTLS

/// Builds the pipelines of accepted connections: TLS or not, HTTP/1.1 or HTTP/2.
struct ChannelInitializer: Sendable {
    let server: ServerState
    /// `nil` for plain TCP.
    let certificate: ServerCertificate?

    /// The protocols that TLS offers, the preferred first (ALPN).
    static let applicationProtocols = ["h2", "http/1.1"]

    func initialize(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let streams = ConnectionStreams()
            if let certificate {
                try addTLS(certificate.context, streams, to: channel)
            } else {
                try addHTTP1(streams, to: channel)
            }
        }
    }

    private func addTLS(_ tls: NIOSSLContext, _ streams: ConnectionStreams, to channel: any Channel) throws {
        let limits = server.limits
        let silence = TimeAmount.seconds(Int64(limits.idleSeconds + limits.responseSeconds))
        try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: tls),
            IdleStateHandler(allTimeout: silence),
            HandshakeTimeout(.seconds(Int64(limits.arrivalSeconds)), streams),
            ApplicationProtocolNegotiationHandler { result, channel in
                channel.eventLoop.makeCompletedFuture {
                    switch result {
                    case .negotiated("h2"): try addHTTP2(streams, to: channel)
                    case .negotiated, .fallback: try addHTTP1(streams, to: channel)
                    }
                }
            },
        ])
    }

    private func addHTTP1(_ streams: ConnectionStreams, to channel: any Channel) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = server.limits.headerBytes
        limits.maxHeaderListSize = server.limits.headerBytes
        limits.maxHeaderFieldCount = ConnectionLimits.headerFields
        let gate = HTTP1InputGate()
        try channel.pipeline.syncOperations.addHandlers([
            gate,
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
            HTTP1Connection(server, gate, streams, peer: channel.remoteAddress),
        ])
    }

    private func addHTTP2(_ streams: ConnectionStreams, to channel: any Channel) throws {
        let limits = server.limits
        let management = NIOHTTP2ServerConnectionManagementHandler.Configuration(
            maxIdleTime: .seconds(Int64(limits.idleSeconds)), maxAge: nil,
            maxGraceTime: .seconds(Int64(limits.responseSeconds)), keepalive: nil)
        let manager = NIOHTTP2ServerConnectionManagementHandler(eventLoop: channel.eventLoop, configuration: management)
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = nioDefaultSettings.filter { $0.parameter != .maxHeaderListSize }
        connection.initialSettings.append(HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headerBytes))
        let peer = channel.remoteAddress
        let reader = NIOLoopBound(SlowReader(server.budget), eventLoop: channel.eventLoop)
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: connection, streamConfiguration: .init(),
            streamDelegate: manager.http2StreamDelegate
        ) { [server] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(), HTTP2Stream(server, streams, reader.value, peer: peer),
                ])
            }
        }
        try channel.pipeline.syncOperations.addHandlers([manager, HTTP2ConnectionEnd()])
    }
}
