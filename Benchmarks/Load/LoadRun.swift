internal import DequeModule
internal import NIOCore
internal import NIOPosix

/// Sends the requests of a plan and records the responses, all on one event loop.
///
/// With a constant rate (an open loop) the schedule alone decides when a request is due. If all connections of its route are busy, it
/// waits, and the wait counts. So a pause of the server counts for all requests that were due meanwhile, and not only for the requests
/// under way (no coordinated omission).
///
/// `@unchecked`: after `init` only the event loop uses the properties that change.
final class LoadRun: @unchecked Sendable {
    enum Pacing: Equatable, Sendable {
        case constantRate
        /// As many clients, each of which sends its next request after a response; the rates of the routes are proportions.
        case fullLoad(clients: Int)
    }

    struct Route {
        var name: String
        var requests: RequestFile
        var schedule: Schedule
        var connections: Int
        /// The first request that was not sent yet.
        var next = 0
        /// In turn, because the server ends connections that are idle for long.
        var free: Deque<RouteConnection> = []
        var recordings: [Recording]
    }

    /// The pause between two looks at the schedule is at least this long: many requests share one wake-up of the processor.
    static let shortestPause: Int64 = 200_000
    static let longestPause: Int64 = 10_000_000
    /// How long the run waits for responses after its end.
    static let patience: Int64 = 10_000_000_000
    /// From the last connection to the first request.
    private static let delay = TimeAmount.milliseconds(100)

    private let address: SocketAddress
    private let windows: Windows
    private let pacing: Pacing
    private let loop: any EventLoop
    private let finished: EventLoopPromise<Void>
    /// Called on the event loop, with the index of a window that begins; the last call has the number of windows.
    private let onWindow: @Sendable (Int) -> Void
    private var phase = Phase.connecting
    private var routes: [Route]
    private var generator: [GeneratorRecording]
    /// The present window; -1 in the warm-up.
    private var window = -1
    private var times = ThreadTimes()
    private var connections: [RouteConnection] = []
    private var underWay = 0

    private enum Phase {
        case connecting
        case running(since: NIODeadline)
        case ended
    }

    init(
        address: SocketAddress, routes: [(plan: LoadPlan.Route, schedule: Schedule, requests: RequestFile)], windows: Windows,
        pacing: Pacing, loop: any EventLoop, onWindow: @escaping @Sendable (Int) -> Void
    ) {
        self.address = address
        self.windows = windows
        self.pacing = pacing
        self.loop = loop
        self.onWindow = onWindow
        finished = loop.makePromise()
        generator = Array(repeating: GeneratorRecording(), count: windows.count)
        self.routes = routes.map { plan, schedule, requests in
            Route(
                name: plan.name, requests: requests, schedule: schedule, connections: plan.connections,
                recordings: Array(repeating: Recording(), count: windows.count))
        }
    }

    /// Runs from the first connection to the last response.
    /// - Throws: ``ChannelError`` or ``IOError`` if the server accepts no connection.
    func results() async throws -> LoadResults {
        do {
            for (index, route) in routes.enumerated() {
                for _ in 0..<route.connections { try await connect(index).get() }
            }
        } catch {
            finished.fail(error)
            throw error
        }
        loop.scheduleTask(in: Self.delay) {
            self.phase = .running(since: .now())
            self.times = .current
            self.look()
        }
        try await finished.futureResult.get()
        return try await loop.submit {
            LoadResults(
                windows: self.windows, generator: self.generator,
                routes: self.routes.map { LoadResults.Route(name: $0.name, recordings: $0.recordings) })
        }.get()
    }

    private func connect(_ route: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RouteConnection(run: self, route: route))
                }
            }
            .connect(to: address).map { _ in }
    }

    /// Nanoseconds since the start; nil before the start and after the end.
    private var now: Int64? {
        guard case .running(let start) = phase else { return nil }
        return (.now() - start).nanoseconds
    }

    /// Sends the requests that are due, and plans the next look at the schedule.
    private func look() {
        guard case .running(let start) = phase, let now else { return }
        enterWindows(until: now)
        let hasRest = underWay > 0 || (pacing == .constantRate && routes.contains { $0.schedule.due($0.next) < windows.end })
        if now >= windows.end, !hasRest || now >= windows.end + Self.patience { return end(now: now) }
        var next = now + Self.longestPause
        switch pacing {
        case .constantRate:
            for index in routes.indices {
                sendDue(of: index, now: now)
                if !routes[index].free.isEmpty { next = min(next, routes[index].schedule.due(routes[index].next)) }
            }
        case .fullLoad(let clients): fill(upTo: clients, now: now)
        }
        loop.scheduleTask(deadline: start + .nanoseconds(max(next, now + Self.shortestPause))) { self.look() }
    }

    private func sendDue(of route: Int, now: Int64) {
        while !routes[route].free.isEmpty {
            let due = routes[route].schedule.due(routes[route].next)
            guard due <= now, due < windows.end, let connection = routes[route].free.popFirst() else { return }
            if let window = windows.index(at: due) {
                generator[window].lateness.record(nanoseconds: now - max(due, connection.freeSince))
            }
            send(on: connection, due: due, now: now)
        }
    }

    /// Sends the requests of all routes in their proportions, until all clients wait or the next route has no free connection.
    private func fill(upTo clients: Int, now: Int64) {
        while underWay < clients, now < windows.end {
            let next = routes.indices.min { routes[$0].schedule.due(routes[$0].next) < routes[$1].schedule.due(routes[$1].next) }
            guard let next, let connection = routes[next].free.popFirst() else { return }
            send(on: connection, due: now, now: now)
        }
    }

    private func send(on connection: RouteConnection, due: Int64, now: Int64) {
        let route = connection.route
        underWay += 1
        connection.send(routes[route].requests[routes[route].next], due: due, now: now)
        routes[route].next += 1
    }

    private func enterWindows(until now: Int64) {
        let present = now < windows.warmUp ? -1 : windows.index(at: now) ?? windows.count
        guard present != window else { return }
        let times = ThreadTimes.current
        if window >= 0, window < windows.count { generator[window].add(from: self.times, to: times) }
        self.times = times
        window = present
        onWindow(present)
    }

    private func end(now: Int64) {
        phase = .ended
        for index in routes.indices {
            let route = routes[index]
            guard pacing == .constantRate else { continue }
            for number in route.next..<max(route.next, route.schedule.count(before: windows.end)) {
                let due = route.schedule.due(number)
                if let window = windows.index(at: due) { routes[index].recordings[window].unanswered(due: due, now: now) }
            }
        }
        for connection in connections {
            if let sent = connection.sent, let window = windows.index(at: sent.due) {
                routes[connection.route].recordings[window].unanswered(due: sent.due, now: now)
            }
            connection.close()
        }
        finished.succeed()
    }
}

// What the connections tell.
extension LoadRun {
    func isConnected(_ connection: RouteConnection) {
        connections.append(connection)
        release(connection)
    }

    func received(status: Int, _ sent: RouteConnection.Sent, on connection: RouteConnection) {
        guard let now else { return }
        underWay -= 1
        if let window = windows.index(at: sent.due) {
            routes[connection.route].recordings[window].responded(status: status, due: sent.due, sent: sent.at, now: now)
        }
        release(connection)
    }

    private func release(_ connection: RouteConnection) {
        routes[connection.route].free.append(connection)
        guard let now else { return }
        connection.freeSince = now
        switch pacing {
        case .constantRate: sendDue(of: connection.route, now: now)
        case .fullLoad(let clients): fill(upTo: clients, now: now)
        }
    }

    /// Counts the request that was under way, and connects again.
    func lost(_ connection: RouteConnection) {
        connections.removeAll { $0 === connection }
        routes[connection.route].free.removeAll { $0 === connection }
        // After the end, its request counts as unanswered already.
        guard now != nil else { return }
        if let sent = connection.sent {
            underWay -= 1
            if let window = windows.index(at: sent.due) { routes[connection.route].recordings[window].failed(.broken) }
        }
        reconnect(connection.route)
    }

    private func reconnect(_ route: Int) {
        connect(route).whenFailure { _ in
            guard self.now != nil else { return }
            self.loop.scheduleTask(in: Self.delay) { self.reconnect(route) }
        }
    }
}
