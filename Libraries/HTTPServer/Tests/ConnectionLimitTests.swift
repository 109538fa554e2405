import Foundation
import HTTPServer
import NIOCore
import NIOEmbedded
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Limiting the connections of a client` {
    @Test func `only a shortage of descriptors or memory makes the server wait before it accepts again`() {
        for code in [EMFILE, ENFILE, ENOBUFS, ENOMEM] {
            #expect(AcceptFailures.isShortage(IOError(errnoCode: code, reason: "accept")), "\(code)")
        }
        for code in [ECONNABORTED, EPROTO, EPERM, ETIMEDOUT] {
            #expect(!AcceptFailures.isShortage(IOError(errnoCode: code, reason: "accept")), "\(code)")
        }
        #expect(!AcceptFailures.isShortage(CancellationError()))
    }

    @Test func `after a connection that could not be accepted the server waits for a second, and counts it`() throws {
        let failures = AcceptFailures()
        let registry = ConnectionRegistry(ServerConfiguration(host: "127.0.0.1", port: 0))
        let channel = EmbeddedChannel(handler: AcceptHandler(registry, failures, logger: .silent))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        func reads() -> [Bool] { channel.options.compactMap { $0.value as? Bool } }
        for code in [ECONNABORTED, EMFILE, EMFILE, ENOMEM] {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        }
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(reads() == [false])
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(reads() == [true])
        #expect(failures.total == 3)
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
}
