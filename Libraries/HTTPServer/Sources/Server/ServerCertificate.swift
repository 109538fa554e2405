internal import Foundation
public import Logging
internal import NIOSSL
internal import Synchronization

/// The certificate of a server, in PEM files that are read again every ten seconds, so that a renewed one needs no restart.
///
/// Connections that are open keep the certificate that they began with.
public final class ServerCertificate: Sendable {
    private static let refreshInterval = Duration.seconds(10)

    private struct Files: Sendable, Equatable {
        var certificate: Data
        var key: Data
    }

    private struct State: Sendable {
        /// The files that were read last, usable or not.
        var files: Files
        var context: NIOSSLContext
    }

    private let path: String
    private let keyPath: String
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - path: the certificate and its chain
    ///   - keyPath: its private key
    ///   - logger: gets a warning if the files become unusable; the previous certificate stays in use
    /// - Throws: ``Unusable`` if the files cannot be used now
    public init(path: String, keyPath: String, logger: Logger) throws(Unusable) {
        let files = try Self.read(path, keyPath)
        state = Mutex(State(files: files, context: try Self.context(of: files)))
        (self.path, self.keyPath, self.logger) = (path, keyPath, logger)
    }

    /// For a new connection.
    var context: NIOSSLContext { state.withLock(\.context) }

    /// Reads the files again until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.refreshInterval)) != nil { refresh() }
    }

    func refresh() {
        do throws(Unusable) {
            let files = try Self.read(path, keyPath)
            guard state.withLock({ $0.files }) != files else { return }
            state.withLock { $0.files = files }
            let context = try Self.context(of: files)
            state.withLock { $0.context = context }
            logger.notice("the certificate was renewed")
        } catch {
            logger.warning("the certificate could not be renewed", metadata: ["error": "\(error)"])
        }
    }

    private static func read(_ path: String, _ keyPath: String) throws(Unusable) -> Files {
        Files(certificate: try read(path), key: try read(keyPath))
    }

    private static func read(_ path: String) throws(Unusable) -> Data {
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
            throw Unusable(reason: "the file \(path) cannot be read")
        }
    }

    private static func context(of files: Files) throws(Unusable) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(files.certificate)).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(files.key), format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ChannelInitializer.applicationProtocols
            return try NIOSSLContext(configuration: configuration)
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
