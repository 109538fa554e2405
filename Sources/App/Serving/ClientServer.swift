internal import Foundation
internal import HTTP
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCertificateReloading
internal import NIOCore
internal import NIOSSL
internal import ServiceLifecycle
internal import Telemetry

/// The server for clients: on a port or a Unix socket, with TLS or without, within the limits that are set.
struct ClientServer {
    let services: [any Service]
    private let admission: Admission

    init(
        _ responder: APIResponder, _ settings: Settings, drain: Drain, logger: Logger,
        onRunning: @escaping @Sendable (Int) -> Void
    ) throws {
        let certificate = try Certificate(settings, logger: logger)
        admission = Admission(limit: settings.requests)
        let limits = ConnectionLimits(
            idleSeconds: settings.idleTimeoutSeconds, arrivalSeconds: settings.arrivalTimeoutSeconds,
            answerSeconds: settings.answerTimeoutSeconds, headerBytes: settings.headerLimitBytes,
            bodyBytes: settings.bodyLimitBytes)
        let socket = try settings.socket.map { try SocketFile(path: $0, mode: settings.socketMode) }
        let port = settings.port
        let application = Application(
            responder: responder,
            server: .api(responder, limits, admission: admission, drain: drain, tls: certificate?.configuration),
            configuration: ApplicationConfiguration(
                address: socket.map { .unixDomainSocket(path: $0.path) } ?? .hostname(settings.host, port: port),
                // As many as the kernel lets wait (net.core.somaxconn).
                backlog: 4_096,
                availableConnectionsDelegate: .maximum(settings.connections, logger: logger)
            ),
            onServerRunning: { channel in
                socket?.permit(logger: logger)
                onRunning(channel.localAddress?.port ?? port)
            },
            logger: logger
        )
        let beside: [(any Service)?] = [certificate?.reloader, socket, UnderWay(admission: admission)]
        services = beside.compactMap(\.self) + [application]
    }

    var metrics: [Metric] {
        [
            .counter(
                "humon_http_requests_shed_total", "Requests refused at once with 503, since too many were under way.",
                Double(admission.refusals))
        ]
    }
}

/// Ends when no request is worked on any more, not even for clients that have gone away: what they need is to end after them.
private struct UnderWay: Service {
    let admission: Admission

    func run() async throws {
        try? await gracefulShutdown()
        while admission.requests > 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

/// What the server shows to clients of TLS. The files are read again from time to time, so that a renewed one needs no restart.
private struct Certificate {
    private static let refreshSeconds = 10

    let configuration: TLSConfiguration
    let reloader: TimedCertificateReloader

    /// - Returns: nil where there is to be no TLS
    init?(_ settings: Settings, logger: Logger) throws {
        switch (settings.tlsCertificate, settings.tlsKey) {
        case (nil, nil): return nil
        case (_?, nil), (nil, _?): throw CertificateUnusable(reason: "one of them is not set")
        case (let certificate?, let key?):
            var reloading = TimedCertificateReloader.Configuration(
                refreshInterval: .seconds(Self.refreshSeconds),
                certificateSource: .init(location: .file(path: certificate), format: .pem),
                privateKeySource: .init(location: .file(path: key), format: .pem))
            // The first failure ends the start; one that follows leaves the certificate that was.
            reloading.onCertificateLoadFailed = { failure in
                logger.warning("the certificate could not be read", metadata: ["error": "\(failure.error)"])
            }
            do {
                reloader = try TimedCertificateReloader.makeReloaderValidatingSources(configuration: reloading)
                configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: reloader)
            } catch {
                throw CertificateUnusable(reason: "\(error)")
            }
        }
    }
}

struct CertificateUnusable: Error, CustomStringConvertible {
    var reason: String
    var description: String { "HUMON_TLS_CERTIFICATE and HUMON_TLS_KEY cannot be used: \(reason)" }
}
