internal import NIOCore
internal import Synchronization

/// The open connections of a server: limits their number, and ends them.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isQuiescing = false
    }

    private let state = Mutex(State())
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    var isEmpty: Bool { state.withLock { $0.connections.isEmpty } }
    var hasRoom: Bool { state.withLock { $0.connections.count < maximum } }

    func add(_ channel: any Channel) {
        let isQuiescing = state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = channel
            return state.isQuiescing
        }
        if isQuiescing { channel.close(promise: nil) }
    }

    func remove(_ channel: any Channel) { state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) } }

    /// Lets every connection end after its current response.
    func quiesce() {
        for channel in all(quiescing: true) { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }

    /// Closes every connection at once.
    func closeAll() { for channel in all(quiescing: true) { channel.close(promise: nil) } }

    private func all(quiescing: Bool) -> [any Channel] {
        state.withLock { state in
            state.isQuiescing = quiescing
            return Array(state.connections.values)
        }
    }
}

/// Registers accepted connections, and accepts no more while the registry is full.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let registry: ConnectionRegistry
    /// Whether the listening socket must be read once there is room.
    private var isReadHeld = false

    init(_ registry: ConnectionRegistry) { self.registry = registry }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        registry.add(connection)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        connection.closeFuture.hop(to: context.eventLoop).whenComplete { [registry] _ in
            registry.remove(connection)
            bound.value.handler.readIfHeld(bound.value.context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) { if registry.hasRoom { context.read() } else { isReadHeld = true } }

    private func readIfHeld(_ context: ChannelHandlerContext) {
        guard isReadHeld, registry.hasRoom else { return }
        isReadHeld = false
        context.read()
    }
}
