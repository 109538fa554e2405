internal import HTTPServer
internal import Logging

extension Settings {
    /// The server for clients, as the settings want it.
    /// - Parameter socket: replaces host and port
    /// - Throws: ``CertificateUnusable``
    func serverConfiguration(
        socket: SocketFile?, drain: Drain, logger: Logger
    ) throws(CertificateUnusable) -> ServerConfiguration {
        var configuration = ServerConfiguration(
            address: socket.map { .unixSocket(path: $0.path) } ?? .hostname(host, port: port),
            certificate: try certificate(logger: logger))
        configuration.limits = ConnectionLimits(
            idleSeconds: idleTimeoutSeconds, arrivalSeconds: arrivalTimeoutSeconds, responseSeconds: answerTimeoutSeconds,
            headerBytes: headerLimitBytes, bodyBytes: bodyLimitBytes)
        configuration.maximumConnections = connections
        configuration.trustedProxies = trustedProxies
        configuration.inFlight = InFlightRequests(waitingLimit: requests)
        configuration.budget = BufferBudget(limitBytes: bufferMegabytes * 1_000_000)
        configuration.drain = drain
        return configuration
    }

    /// The server for operators and their tools.
    func operatorServerConfiguration() -> ServerConfiguration {
        var configuration = ServerConfiguration(address: .hostname(adminHost, port: adminPort))
        configuration.limits.idleSeconds = idleTimeoutSeconds
        return configuration
    }

    /// - Returns: `nil` if the settings want no TLS
    private func certificate(logger: Logger) throws(CertificateUnusable) -> ServerCertificate? {
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): return nil
        case (_?, nil), (nil, _?): throw CertificateUnusable(reason: "one of them is not set")
        case (let certificate?, let key?):
            do throws(ServerCertificate.Unusable) {
                return try ServerCertificate(path: certificate, keyPath: key, logger: logger)
            } catch {
                throw CertificateUnusable(reason: error.reason)
            }
        }
    }
}

struct CertificateUnusable: Error, CustomStringConvertible {
    var reason: String
    var description: String { "HUMON_TLS_CERTIFICATE and HUMON_TLS_KEY cannot be used: \(reason)" }
}
