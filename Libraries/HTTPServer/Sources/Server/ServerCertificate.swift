public import Logging
internal import NIOCertificateReloading
internal import NIOCore
internal import NIOSSL

/// The certificate of a server, in PEM files that are read again every ten seconds, so that a renewed one needs no restart.
public struct ServerCertificate: Sendable {
    private static let refreshSeconds = 10

    let configuration: TLSConfiguration
    let reloader: TimedCertificateReloader

    /// - Parameters:
    ///   - path: the certificate and its chain
    ///   - keyPath: its private key
    ///   - logger: gets a warning if the files become unreadable; the previous certificate stays in use
    /// - Throws: ``Unusable`` if the files cannot be used now
    public init(path: String, keyPath: String, logger: Logger) throws(Unusable) {
        var reloading = TimedCertificateReloader.Configuration(
            refreshInterval: .seconds(Self.refreshSeconds),
            certificateSource: .init(location: .file(path: path), format: .pem),
            privateKeySource: .init(location: .file(path: keyPath), format: .pem))
        reloading.onCertificateLoadFailed = { failure in
            logger.warning("the certificate could not be read", metadata: ["error": "\(failure.error)"])
        }
        do {
            reloader = try TimedCertificateReloader.makeReloaderValidatingSources(configuration: reloading)
            var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: reloader)
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ChannelInitializer.applicationProtocols
            self.configuration = configuration
        } catch {
            throw Unusable(reason: "\(error)")
        }
    }

    /// The files of a certificate are unusable.
    public struct Unusable: Error, CustomStringConvertible {
        public var reason: String
        public var description: String { "The certificate cannot be used: \(reason)" }
    }
}
