import Foundation
import HTTPServer
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Limiting the connections of a client` {
    @Test func `only a shortage of descriptors or memory makes the server wait before it accepts again`() {
        for code in [EMFILE, ENFILE, ENOBUFS, ENOMEM] {
            #expect(AcceptHandler.isShortage(IOError(errnoCode: code, reason: "accept")), "\(code)")
        }
        for code in [ECONNABORTED, EPROTO, EPERM, ETIMEDOUT] {
            #expect(!AcceptHandler.isShortage(IOError(errnoCode: code, reason: "accept")), "\(code)")
        }
        #expect(!AcceptHandler.isShortage(CancellationError()))
    }

    @Test func `after a connection that could not be accepted the server waits for a second, and counts it`() throws {
        let registry = ConnectionRegistry(ServerConfiguration(host: "127.0.0.1", port: 0))
        let channel = EmbeddedChannel(handler: AcceptHandler(registry, logger: .silent))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        func reads() -> [Bool] { channel.options.compactMap { $0.value as? Bool } }
        for code in [ECONNABORTED, EMFILE, EMFILE, ENOMEM] {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(reads() == [false])
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(reads() == [true])
        #expect(registry.acceptFailures.load(ordering: .relaxed) == 3)
        _ = try? channel.finish()
    }

    /// Whether a new connection gets a response.
    private static func isServed(_ connection: RawConnection) async throws -> Bool {
        // The server may have closed the connection already.
        try? connection.send(Wire.get("/"))
        return (try? await connection.receive { $0.hasSuffix("small") }.text.hasSuffix("small")) == true
    }

    private static func withServer(
        trusting proxies: String, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let proxies = try #require(TrustedProxies(proxies))
        let configuration = Wire.configuration { ($0.maximumConnectionsPerAddress, $0.trustedProxies) = (2, proxies) }
        try await Router(routes: Wire.routes, logger: .silent).withServer(configuration) { _, port in try await body(port) }
    }

    @Test func `an address with all its connections is not served, until one of them ends`() async throws {
        try await Self.withServer(trusting: "none") { port in
            let kept = try RawConnection(port: port)
            #expect(try await Self.isServed(kept))
            do {
                let other = try RawConnection(port: port)
                #expect(try await Self.isServed(other))
                #expect(try await !Self.isServed(RawConnection(port: port)))
                #expect(try await Self.isServed(kept))
            }
            try await eventually("room for another connection") { try await Self.isServed(RawConnection(port: port)) }
        }
    }

    @Test func `a trusted proxy has any number of connections`() async throws {
        try await Self.withServer(trusting: "127.0.0.1") { port in
            let connections = try (0..<5).map { _ in try RawConnection(port: port) }
            for connection in connections { #expect(try await Self.isServed(connection)) }
        }
    }

    @Test func `a server with all its connections closes the one that was idle longest for each new one`() async throws {
        try await Router(routes: Wire.routes, logger: .silent).withServer(Wire.configuration { $0.maximumConnections = 3 }) {
            server, port in
            // A stream and an arriving request are not idle.
            let stream = try RawConnection(port: port)
            try stream.send(Wire.get("/stream"))
            #expect(try await stream.receive { $0.contains("tick") }.text.contains("tick"))
            let (first, second) = (try RawConnection(port: port), try RawConnection(port: port))
            for connection in [first, second, first] { #expect(try await Self.isServed(connection)) }
            let third = try RawConnection(port: port)
            #expect(try await Self.isServed(third))
            #expect(try await second.receive().isEnded)
            let fourth = try RawConnection(port: port)
            #expect(try await Self.isServed(fourth))
            #expect(try await first.receive().isEnded)
            for connection in [third, fourth] { #expect(try await Self.isServed(connection)) }
            #expect(stream.receiveNow() == "")
            try await eventually("the end of the closed ones") { server.openConnections == 3 }
        }
    }

    @Test func `a new connection waits while all are busy, until one of them is idle`() async throws {
        let isOpen = Mutex(false)
        let wait = Route(.get, "/wait") { _, _ in
            try await eventually("the test to let requests end") { isOpen.withLock { $0 } }
            return Response(text: "waited")
        }
        let router = Router(routes: Wire.routes + [wait], logger: .silent)
        try await router.withServer(Wire.configuration { $0.maximumConnections = 1 }) { server, port in
            // The second one shows the server that connections wait.
            var busy: [RawConnection] = []
            while busy.count < 2 {
                busy.append(try RawConnection(port: port))
                try busy[busy.count - 1].send(Wire.get("/wait"))
                try await eventually("each request in a task") { server.configuration.inFlight.count == busy.count }
            }
            let waiting = try RawConnection(port: port)
            try waiting.send(Wire.get("/"))
            isOpen.withLock { $0 = true }
            for connection in busy {
                #expect(try await connection.receive { $0.hasSuffix("waited") }.text.hasSuffix("waited"))
            }
            #expect(try await waiting.receive { $0.hasSuffix("small") }.text.hasSuffix("small"))
        }
    }

    @Test func `a request that arrives before its connection is closed is answered, and the next idle connection goes`() throws {
        let (server, loop) = (Server(Wire.router, Wire.configuration(), logger: .silent), EmbeddedEventLoop())
        func connect() throws -> EmbeddedChannel {
            let gate = HTTP1InputGate()
            let channel = EmbeddedChannel(loop: loop)
            _ = server.connections.add(channel)
            try channel.pipeline.syncOperations.addHandlers([
                gate, ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
                HTTP1Connection(server, gate, peer: nil),
            ])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            return channel
        }
        let (older, newer) = (try connect(), try connect())
        server.connections.closeOldestIdle()
        try older.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n"))
        loop.run()
        #expect(older.isActive && !newer.isActive)
        _ = try? older.finish()
    }
}
