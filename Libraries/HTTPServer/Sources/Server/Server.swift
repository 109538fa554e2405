public import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
public import ServiceLifecycle
internal import Synchronization

/// An HTTP server as a service: it listens while it runs. On graceful shutdown it ends after the last response.
public final class Server: Service {
    let router: Router
    public let configuration: ServerConfiguration
    let connections: ConnectionRegistry
    private let logger: Logger
    private let onListening: @Sendable (_ port: Int) -> Void

    /// - Parameter onListening: called when clients can connect, with the port
    public init(
        _ router: Router, _ configuration: ServerConfiguration, logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.router = router
        self.configuration = configuration
        connections = ConnectionRegistry(configuration)
        self.logger = logger
        self.onListening = onListening
        configuration.drain.onBegin { [streams = configuration.streams] in streams.finishAll() }
    }

    /// The number of open connections.
    public var openConnections: Int { connections.count }

    /// The number of connections that could not be accepted for lack of files or memory.
    public var acceptFailures: Int { connections.acceptFailures.load(ordering: .relaxed) }

    /// Serves until graceful shutdown, which lets requests end, or cancellation, which cuts them off.
    /// - Throws: `IOError` if the address cannot be listened on
    public func run() async throws {
        let listener = try await listen()
        logger.info("listening", metadata: ["address": "\(listener.localAddress.map { "\($0)" } ?? "unknown")"])
        onListening(listener.localAddress?.port ?? configuration.port)
        await serve(on: listener)
    }

    private func serve(on listener: any Channel) async {
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                try? await listener.closeFuture.get()
                while connections.count > 0, !Task.isCancelled {
                    // Repeated, because a connection accepted last may not have had its handlers the first time.
                    connections.quiesce()
                    configuration.streams.finishAll()
                    try? await Task.sleep(for: Self.pollInterval)
                }
                // Waits also for requests of clients that have disconnected.
                while configuration.inFlight.count > 0, !Task.isCancelled { try? await Task.sleep(for: Self.pollInterval) }
            } onGracefulShutdown: {
                listener.close(promise: nil)
            }
        } onCancel: {
            listener.close(promise: nil)
            connections.closeAll()
        }
    }

    private static let pollInterval = Duration.milliseconds(20)

    private func listen() async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: configuration.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptHandler(connections, logger: logger))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try addHandlers(to: channel) }
            }
        return try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
    }

    /// Builds the pipeline of an accepted connection.
    private func addHandlers(to channel: any Channel) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.limits.headerBytes
        limits.maxHeaderListSize = configuration.limits.headerBytes
        limits.maxHeaderFieldCount = ConnectionLimits.headerFields
        let gate = HTTP1InputGate()
        try channel.pipeline.syncOperations.addHandlers([
            gate,
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
            HTTP1Connection(self, gate, peer: channel.remoteAddress),
        ])
    }
}
