internal import NIOCore
internal import Synchronization

/// The state that all connections of a server share.
final class ServerState: Sendable {
    let router: Router
    let configuration: ServerConfiguration
    let connections: ConnectionRegistry
    /// The number of connection handlers in memory. A test checks that it returns to 0.
    let handlers = Atomic(0)

    init(_ router: Router, _ configuration: ServerConfiguration) {
        self.router = router
        self.configuration = configuration
        connections = ConnectionRegistry(
            maximum: configuration.maximumConnections, maximumPerAddress: configuration.maximumConnectionsPerAddress,
            trusting: configuration.trustedProxies)
        configuration.drain.onBegin { [streams = configuration.streams] in streams.finishAll() }
    }

    func connectionInfo(_ peer: SocketAddress?) -> ConnectionInfo {
        ConnectionInfo(
            peer.flatMap { NetworkAddress($0) }, trusting: configuration.trustedProxies, budget: configuration.budget,
            streams: configuration.streams)
    }
}

/// Counts the handler that holds it for as long as the handler is in memory.
struct HandlerCount: ~Copyable {
    private let server: ServerState

    init(_ server: ServerState) {
        self.server = server
        server.handlers.add(1, ordering: .relaxed)
    }

    deinit { server.handlers.subtract(1, ordering: .relaxed) }
}
