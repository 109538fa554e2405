/// The state that all connections of a server share.
final class ServerState: Sendable {
    let router: Router
    let configuration: ServerConfiguration
    let connections: ConnectionRegistry

    init(_ router: Router, _ configuration: ServerConfiguration) {
        self.router = router
        self.configuration = configuration
        connections = ConnectionRegistry(configuration)
        configuration.drain.onBegin { [streams = configuration.streams] in streams.finishAll() }
    }
}
