internal import Foundation
internal import Logging
internal import NIOCore
internal import Synchronization

/// The open connections of a server: limits their number, and ends them.
final class ConnectionRegistry: Sendable {
    private struct State {
        /// The address is `nil` for a peer without a limit of its own.
        var connections: [ObjectIdentifier: (channel: any Channel, address: NetworkAddress?)] = [:]
        /// Number of connections of each client address, or of each /64 in IPv6.
        var addresses: [NetworkAddress: Int] = [:]
        var isQuiescing = false
    }

    private let state = Mutex(State())
    private let configuration: ServerConfiguration

    init(_ configuration: ServerConfiguration) { self.configuration = configuration }

    var count: Int { state.withLock { $0.connections.count } }
    var hasRoom: Bool { count < configuration.maximumConnections }

    /// - Returns: false if the client address has as many connections as it may
    func add(_ channel: any Channel) -> Bool {
        let address = limitedAddress(of: channel)
        let (hasRoom, isQuiescing) = state.withLock { state in
            if let address {
                let count = state.addresses[address] ?? 0
                guard count < configuration.maximumConnectionsPerAddress else { return (false, state.isQuiescing) }
                state.addresses[address] = count + 1
            }
            state.connections[ObjectIdentifier(channel)] = (channel, address)
            return (true, state.isQuiescing)
        }
        if hasRoom, isQuiescing { channel.close(promise: nil) }
        return hasRoom
    }

    private func limitedAddress(of channel: any Channel) -> NetworkAddress? {
        // Trusted proxies have no limit, because they connect for many clients.
        guard configuration.maximumConnectionsPerAddress > 0,
            let address = channel.remoteAddress.flatMap({ NetworkAddress($0) }), !configuration.trustedProxies.contains(address)
        else {
            return nil
        }
        return address.subscriber
    }

    func remove(_ channel: any Channel) {
        state.withLock { state in
            guard let address = state.connections.removeValue(forKey: ObjectIdentifier(channel))?.address else { return }
            let count = (state.addresses[address] ?? 1) - 1
            state.addresses[address] = count > 0 ? count : nil
        }
    }

    /// Lets every connection end after its current response.
    func quiesce() {
        for channel in all(quiescing: true) { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }

    /// Closes every connection at once.
    func closeAll() { for channel in all(quiescing: true) { channel.close(promise: nil) } }

    private func all(quiescing: Bool) -> [any Channel] {
        state.withLock { state in
            state.isQuiescing = quiescing
            return state.connections.values.map { $0.channel }
        }
    }
}

/// Registers accepted connections, closes those beyond the limit of their address, and accepts no more while the registry is full, or for
/// a second after a connection that could not be accepted.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let registry: ConnectionRegistry
    private let failures: AcceptFailures
    private let logger: Logger
    /// Whether the listening socket must be read once there is room.
    private var isReadHeld = false
    /// Whether files or memory were short less than ``shortagePause`` ago.
    private var isPaused = false
    private static let shortagePause = TimeAmount.seconds(1)

    init(_ registry: ConnectionRegistry, _ failures: AcceptFailures, logger: Logger) {
        (self.registry, self.failures, self.logger) = (registry, failures, logger)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        guard registry.add(connection) else { return connection.close(promise: nil) }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        connection.closeFuture.hop(to: context.eventLoop).whenComplete { [registry] _ in
            registry.remove(connection)
            bound.value.handler.readIfHeld(bound.value.context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if AcceptFailures.isShortage(error) {
            if failures.count() {
                logger.error(
                    "connections cannot be accepted; trying again each second. Open connections are served. Raise the limit of open files, or close programs",
                    metadata: ["error": "\(error)"])
            }
            pause(context)
        }
        context.fireErrorCaught(error)
    }

    /// After a failed accept NIO goes on reading without asking the pipeline, so `AcceptBackoffHandler` alone leaves the event loop spinning.
    private func pause(_ context: ChannelHandlerContext) {
        guard !isPaused else { return }
        isPaused = true
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        scheduleResumption(context)
    }

    private func scheduleResumption(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.shortagePause) { bound.value.handler.resume(bound.value.context) }
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        guard registry.hasRoom else { return scheduleResumption(context) }
        (isPaused, isReadHeld) = (false, false)
        // This reads, too.
        try? context.channel.syncOptions?.setOption(.autoRead, value: true)
    }

    func read(context: ChannelHandlerContext) {
        if registry.hasRoom, !isPaused { context.read() } else { isReadHeld = true }
    }

    private func readIfHeld(_ context: ChannelHandlerContext) {
        guard isReadHeld, registry.hasRoom, !isPaused else { return }
        isReadHeld = false
        context.read()
    }
}

/// Counts the connections that could not be accepted, because too many files were open or memory was short.
public final class AcceptFailures: Sendable {
    /// The pause between two lines of the log.
    private static let pauseSeconds = 60

    private let state = Mutex((total: 0, logsAfter: ContinuousClock.now))

    public init() {}

    /// Whether the next attempt would fail, too. After `ECONNABORTED`, for a client that closed its connection early, it would not.
    static func isShortage(_ error: any Error) -> Bool {
        guard let error = error as? IOError else { return false }
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
    }

    public var total: Int { state.withLock { $0.total } }

    /// - Returns: whether the failure is worth a line of the log
    func count() -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.total += 1
            guard now >= state.logsAfter else { return false }
            state.logsAfter = now + .seconds(Self.pauseSeconds)
            return true
        }
    }
}
