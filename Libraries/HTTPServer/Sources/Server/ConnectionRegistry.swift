internal import Foundation
internal import Logging
internal import NIOCore
internal import Synchronization

/// The open connections of a server: limits their number, and ends them.
final class ConnectionRegistry: Sendable {
    /// Minimum time between two looks at all connections.
    static let lookPause = TimeAmount.milliseconds(100)

    private struct State {
        /// The address is `nil` for a peer without a limit of its own, the idle time until the connection has its handlers.
        var connections: [ObjectIdentifier: (channel: any Channel, address: NetworkAddress?, idleTime: IdleTime?)] = [:]
        /// Number of connections of each client address, or of each /64 in IPv6.
        var addresses: [NetworkAddress: Int] = [:]
        /// The connections that were idle at the last look, the oldest last. All others have been idle for a shorter time.
        var idle: [(id: ObjectIdentifier, since: NIODeadline)] = []
        var looksAfter = NIODeadline.uptimeNanoseconds(0)
        var isQuiescing = false

        mutating func takeOldestIdle(for minimum: TimeAmount) -> (any Channel)? {
            repeat {
                while let (id, since) = idle.popLast() {
                    guard let connection = connections[id], connection.idleTime?.since == since else { continue }
                    return since + minimum <= .now() ? connection.channel : nil
                }
            } while look(at: .now())
            return nil
        }

        /// - Returns: false if the last look was a moment ago
        private mutating func look(at now: NIODeadline) -> Bool {
            guard now >= looksAfter else { return false }
            looksAfter = now + ConnectionRegistry.lookPause
            idle = connections.compactMap { id, connection in connection.idleTime?.since.map { (id, $0) } }
            idle.sort { $0.since > $1.since }
            return true
        }
    }

    /// The number of connections that could not be accepted, because too many files were open or memory was short.
    let acceptFailures = Atomic(0)
    private let state = Mutex(State())
    private let configuration: ServerConfiguration

    init(_ configuration: ServerConfiguration) { self.configuration = configuration }

    var count: Int { state.withLock { $0.connections.count } }
    /// Whether a further connection may be accepted. One beyond the maximum may: it shows that connections wait.
    var hasRoom: Bool { count <= configuration.maximumConnections }

    /// Closes the connection that has been idle for the longest time, if one is idle.
    /// - Parameter minimum: the shortest time that it must have been idle
    func closeOldestIdle(for minimum: TimeAmount = .zero) {
        guard let channel = state.withLock({ $0.takeOldestIdle(for: minimum) }) else { return }
        // Not at once: a connection that is busy by now calls this function again.
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(CloseIfIdleEvent()) }
    }

    func watch(_ idleTime: IdleTime, of channel: any Channel) {
        state.withLock { $0.connections[ObjectIdentifier(channel)]?.idleTime = idleTime }
    }

    /// - Returns: false if the client address has as many connections as it may
    func add(_ channel: any Channel) -> Bool {
        let address = limitedAddress(of: channel)
        let (hasRoom, isQuiescing) = state.withLock { state in
            if let address {
                let count = state.addresses[address] ?? 0
                guard count < configuration.maximumConnectionsPerAddress else { return (false, state.isQuiescing) }
                state.addresses[address] = count + 1
            }
            state.connections[ObjectIdentifier(channel)] = (channel, address, nil)
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

/// The time since which a connection is idle. Its event loop sets the time, and others read it.
final class IdleTime: Sendable {
    private let nanoseconds = Atomic(UInt64.max)

    /// `nil` while the connection is busy.
    var since: NIODeadline? {
        get {
            let value = nanoseconds.load(ordering: .relaxed)
            return value == .max ? nil : .uptimeNanoseconds(value)
        }
        set { nanoseconds.store(newValue?.uptimeNanoseconds ?? .max, ordering: .relaxed) }
    }
}

/// Asks a connection to close, so that another one is accepted. If a request has arrived meanwhile, another idle connection is asked.
struct CloseIfIdleEvent: Sendable {}

/// Registers accepted connections, and closes those beyond the limit of their address. While the registry is full, it closes an idle one
/// for each new one, and accepts none if all are busy. It pauses for a second after a connection that could not be accepted.
final class AcceptHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let registry: ConnectionRegistry
    private let logger: Logger
    /// Whether the listening socket must be read once there is room.
    private var isReadHeld = false
    /// Whether files or memory were short less than ``shortagePause`` ago.
    private var isPaused = false
    private var isLookScheduled = false
    private static let shortagePause = TimeAmount.seconds(1)
    /// The time of the next line of the log about a shortage, and the pause between two.
    private var logsAfter = NIODeadline.now()
    private static let logPause = TimeAmount.minutes(1)
    /// How long a new connection may take for its first byte while others wait.
    private static let newcomerTime = TimeAmount.seconds(1)

    init(_ registry: ConnectionRegistry, logger: Logger) {
        (self.registry, self.logger) = (registry, logger)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        guard registry.add(connection) else { return connection.close(promise: nil) }
        if !registry.hasRoom { registry.closeOldestIdle() }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        connection.closeFuture.hop(to: context.eventLoop).whenComplete { [registry] _ in
            registry.remove(connection)
            bound.value.handler.readIfHeld(bound.value.context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if Self.isShortage(error) {
            registry.acceptFailures.add(1, ordering: .relaxed)
            if NIODeadline.now() >= logsAfter {
                logsAfter = NIODeadline.now() + Self.logPause
                logger.error(
                    "connections cannot be accepted; trying again each second. Open connections are served. Raise the limit of open files, or close programs",
                    metadata: ["error": "\(error)"])
            }
            pause(context)
        }
        context.fireErrorCaught(error)
    }

    /// Whether the next attempt would fail, too. After `ECONNABORTED`, for a client that closed its connection early, it would not.
    static func isShortage(_ error: any Error) -> Bool {
        guard let error = error as? IOError else { return false }
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
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
        if registry.hasRoom, !isPaused { return context.read() }
        isReadHeld = true
        scheduleLook(context)
    }

    /// Looks again for idle connections while the registry is full.
    private func scheduleLook(_ context: ChannelHandlerContext) {
        guard !isLookScheduled, !isPaused else { return }
        isLookScheduled = true
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: ConnectionRegistry.lookPause) { bound.value.handler.look(bound.value.context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        isLookScheduled = false
        guard isReadHeld, !registry.hasRoom, context.channel.isActive else { return }
        // The only idle one may be new, and its request under way.
        registry.closeOldestIdle(for: Self.newcomerTime)
        scheduleLook(context)
    }

    private func readIfHeld(_ context: ChannelHandlerContext) {
        guard isReadHeld, registry.hasRoom, !isPaused else { return }
        isReadHeld = false
        context.read()
    }
}
