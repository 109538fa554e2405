public import HummingbirdCore
internal import HummingbirdHTTP2
internal import NIOCore
public import NIOSSL

extension HTTPServerBuilder {
    /// The server for clients.
    /// - Parameters:
    ///   - responder: answers every request
    ///   - tls: with it the server speaks TLS alone, and in it HTTP/2 with those who offer it
    public static func api(
        _ responder: APIResponder, _ limits: ConnectionLimits, admission: Admission, drain: Drain, tls: TLSConfiguration? = nil
    ) -> HTTPServerBuilder {
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ClientConnection(responder, limits, admission: admission, drain: drain)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
                maxHeaderFieldCount: ConnectionLimits.headerFields))
        guard var tls else { return .http1(configuration: channel) }
        tls.minimumTLSVersion = .tlsv12
        return HTTPServerBuilder { [tls] responder in
            let base = try HTTP2UpgradeChannel(
                tlsConfiguration: tls,
                configuration: .init(
                    idleTimeout: .seconds(limits.idleSeconds), gracefulCloseTimeout: .seconds(limits.answerSeconds),
                    streamConfiguration: channel),
                responder: responder)
            return TimedChannel(base, limits)
        }
    }
}
