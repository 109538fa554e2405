import HTTPServer
import HTTPTypes
import ServiceLifecycle
import TestDatabase
import TestHTTP
import TestServer
import Testing
import UnixSignals

@testable import HTTPServer

@Suite struct `Ending a connection` {
    /// A way to end: the bytes that a client sends, the number of responses it waits for, and how it leaves.
    struct Ending: Sendable {
        enum Leaving: Sendable {
            /// The client waits until the server closes the connection.
            case isClosed
            /// The client closes its side, and reads until the server closes the other.
            case halfClose
            /// The client closes both sides, perhaps with unread bytes.
            case close
        }

        var name: String
        var sends: String
        var leaving: Leaving
    }

    static let endings = [
        Ending(name: "nothing", sends: "", leaving: .close),
        Ending(name: "nothing, half closed", sends: "", leaving: .halfClose),
        Ending(name: "a request", sends: Wire.get("/"), leaving: .halfClose),
        Ending(name: "a request, unread", sends: Wire.get("/"), leaving: .close),
        Ending(name: "a last request", sends: Wire.get("/", "Connection: close\r\n"), leaving: .isClosed),
        Ending(name: "a request in a task", sends: Wire.get("/task"), leaving: .halfClose),
        Ending(name: "a last request in a task", sends: Wire.get("/task", "Connection: close\r\n"), leaving: .isClosed),
        Ending(name: "HTTP/1.0", sends: Wire.get("/", version: "1.0"), leaving: .isClosed),
        Ending(name: "an upgrade", sends: Wire.get("/", "Connection: upgrade\r\nUpgrade: x\r\n") + "more", leaving: .isClosed),
        Ending(name: "no HTTP", sends: "NONSENSE\r\n\r\n", leaving: .isClosed),
        Ending(name: "half a head", sends: "GET / HTTP/1.1\r\nHo", leaving: .halfClose),
        Ending(
            name: "half a body",
            sends: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65000\r\n\r\n"
                + String(repeating: "x", count: 60_000), leaving: .close),
        Ending(
            name: "half a body, half closed", sends: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx",
            leaving: .halfClose),
        Ending(name: "a large response, unread", sends: Wire.get("/large"), leaving: .close),
        Ending(name: "a stream", sends: Wire.get("/stream"), leaving: .close),
        Ending(name: "a stream, half closed", sends: Wire.get("/stream"), leaving: .halfClose),
        Ending(name: "a stream with a request behind it", sends: Wire.get("/stream") + Wire.get("/"), leaving: .halfClose),
        Ending(name: "a stream of HTTP/1.0", sends: Wire.get("/stream", version: "1.0"), leaving: .close),
        Ending(name: "the head of a stream", sends: "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n", leaving: .halfClose),
    ]

    @Test func `a connection that its client ends in any way leaves no handler and no byte behind`() async throws {
        let configuration = Wire.configuration()
        let isFreed = try await Wire.router.withServer(configuration) { server, port in
            for ending in Self.endings {
                for _ in 0..<20 {
                    try await withThrowingTaskGroup(of: Void.self) { clients in
                        for _ in 0..<10 { clients.addTask { try await Self.run(ending, port: port) } }
                        try await clients.waitForAll()
                    }
                }
                try await eventually("the end of all connections with \(ending.name)") { server.connections.count == 0 }
            }
            return { [weak server] in server == nil } as @Sendable () -> Bool
        }
        // Each handler has a reference to the server.
        try await eventually("the end of all handlers") { isFreed() }
        #expect(configuration.budget.usedBytes == 0)
        #expect(configuration.inFlight.count == 0)
        #expect(configuration.streams.count == 0)
    }

    private static func run(_ ending: Ending, port: Int) async throws {
        let connection = try RawConnection(port: port)
        try connection.send(ending.sends)
        switch ending.leaving {
        case .isClosed: #expect(try await connection.receive().isEnded, "\(ending.name)")
        case .halfClose:
            connection.endSending()
            #expect(try await connection.receive().isEnded, "\(ending.name)")
        case .close: break
        }
    }

    @Test func `slow connections stop no other client, and their end leaves no handler behind`() async throws {
        let configuration = Wire.configuration { ($0.limits.arrivalSeconds, $0.limits.idleSeconds) = (5, 5) }
        let isFreed = try await Wire.router.withServer(configuration) { server, port in
            var connections: [RawConnection] = []
            for sent in ["", "GET / HTTP/1.1\r\n", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx", Wire.get("/")]
            {
                for _ in 0..<50 {
                    let connection = try RawConnection(port: port)
                    try connection.send(sent)
                    connections.append(connection)
                }
            }
            for _ in 0..<20 {
                let client = try RawConnection(port: port)
                try client.send(Wire.get("/"))
                #expect(try await client.receive { $0.contains("200 OK") }.text.contains("200 OK"))
            }
            for connection in connections { #expect(try await connection.receive().isEnded) }
            try await eventually("the end of all connections") { server.connections.count == 0 }
            return { [weak server] in server == nil } as @Sendable () -> Bool
        }
        try await eventually("the end of all handlers") { isFreed() }
        #expect(configuration.budget.usedBytes == 0)
    }

    @Test func `a graceful shutdown cuts off a request that does not end`() async throws {
        let (signals, signal) = AsyncStream.makeStream(of: UnixSignal.self)
        let server = Server(Wire.router, Wire.configuration(), logger: .silent) { port in
            Task {
                let open = try? RawConnection(port: port)
                try? open?.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
                _ = try? await open?.receive { $0.contains("100 Continue") }
                // Once, because a second signal ends the process. Also if the connection failed: the test must end.
                signal.yield(.sigterm)
                _ = try? await open?.receive()
            }
        }
        let shutdown = GracefulShutdown(drain: Drain(), drainSeconds: 0, shutdownSeconds: 1, logger: .silent)
        await #expect(throws: RequestsCutOff.self) { try await shutdown.run([server], at: signals) }
    }

    @Test func `a graceful shutdown waits for the response of a request in a task`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let route = Route(.get, "/late") { _, _ in
            for await _ in gate.stream {}
            return Response(text: "late")
        }
        let (busy, opening) = try await Router(routes: [route], logger: .silent).withServer { server, port in
            let (idle, busy) = (try RawConnection(port: port), try RawConnection(port: port))
            try busy.send(Wire.get("/late"))
            try await eventually("a request in flight, and two connections") {
                server.configuration.inFlight.count == 1 && server.connections.count == 2
            }
            let opening = Task {
                // The shutdown accepts no connection any more, and then closes idle ones.
                _ = try await idle.receive()
                #expect(throws: RawConnection.Failed.self) { try RawConnection(port: port) }
                gate.continuation.finish()
            }
            return (busy, opening)
        }
        let received = try await busy.receive()
        #expect(received.text.hasSuffix("late") && received.isEnded, "\(received.text)")
        try await opening.value
    }

    @Test(arguments: ["Connection: Upgrade\r\nUpgrade: x\r\n", "Connection: close\r\n"])
    func `bytes after the last request of a connection are not buffered`(field: String) async throws {
        try await Wire.router.withServer { _, port in
            let sentBytes = 400_000_000
            let block = String(repeating: "x", count: 1_000_000)
            let before = try residentBytes()
            // The unread response keeps the connection open.
            let connection = try RawConnection(port: port)
            try connection.send(Wire.get("/large", field))
            _ = try? await connection.sendUntilNoMoreIsTaken(block, atMost: sentBytes)
            #expect(try residentBytes() - before < sentBytes / 2)
        }
    }
}
