import Foundation
import TestDatabase
import Testing

@testable import Postgres

/// PostgreSQL logs `Connection reset by peer` for a session that ends without the message Terminate, over TLS always and otherwise if the
/// client left bytes unread.
@Suite struct `Closing connections` {
    /// It is a matter of chance which thread comes first.
    private static let rounds = 50

    @Test(.timeLimit(.minutes(5)))
    func `when a client has ended, its connections have said so and are closed`() async throws {
        let server = try GreetingServer()
        for _ in 0..<Self.rounds {
            let peers = try await withPostgres(server.configuration, logger: .quiet) { client in
                var peers: [GreetingServer.Peer] = []
                for _ in 0..<server.configuration.connections { peers.append(try await server.next()) }
                for peer in peers { peer.greet() }
                try await eventually("open connections", every: .milliseconds(1)) { client.connections[.idle] == peers.count }
                return peers
            }
            // Without waiting: a command ends its process now.
            for peer in peers { #expect(try peer.receive() == GreetingServer.Peer.terminate) }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a cancelled attempt to connect ends its handshake, and then the session`() async throws {
        let server = try GreetingServer()
        var cancelled = 0
        for _ in 0..<Self.rounds {
            let opening = Task { try await ConnectionThread.open(server.configuration) }
            let peer = try await server.next()
            opening.cancel()
            peer.greet()
            // The greeting may be faster than the cancellation.
            do { try await opening.value.ended.value() } catch is CancellationError { cancelled += 1 }
            #expect(try peer.receive() == GreetingServer.Peer.terminate)
        }
        #expect(cancelled > 0)
    }
}

/// A server on a Unix socket that speaks as much of PostgreSQL's protocol as a connection without statements needs. Such a socket passes
/// bytes on at once: after a connection was closed, all that it has sent can be read without waiting.
private final class GreetingServer: Sendable {
    private let directory: String
    private let descriptor: Int32

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "greeting-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(AF_UNIX, Int32(type), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // libpq makes this name from the port.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(directory)/.s.PGSQL.5432".utf8) }
        let isListening = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 16) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// That of a client which gives up connecting long after the time limit of a test.
    var configuration: PostgresConfiguration {
        var configuration = PostgresConfiguration(url: "host='\(directory)' port=5432 user=humon dbname=humon")
        configuration.connectTimeoutSeconds = 3_600
        return configuration
    }

    /// Waits for the next connection and its first message.
    /// - Throws: `TimeoutError`, `POSIXError`
    func next() async throws -> Peer {
        var accepted: Int32 = -1
        try await eventually("a connection", every: .milliseconds(1)) {
            accepted = accept(descriptor, nil, nil)
            return accepted >= 0
        }
        let peer = Peer(descriptor: accepted)
        try await eventually("the first message", every: .milliseconds(1)) { try !peer.receive().isEmpty }
        return peer
    }

    final class Peer: Sendable {
        /// `AuthenticationOk`, and `ReadyForQuery` outside a transaction.
        private static let greeting: [UInt8] =
            [UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 0] + [UInt8(ascii: "Z"), 0, 0, 0, 5, UInt8(ascii: "I")]

        static let terminate: [UInt8] = [UInt8(ascii: "X"), 0, 0, 0, 4]

        private let descriptor: Int32

        init(descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Lets the client in. A client that has left shows in ``receive()``.
        func greet() {
            _ = Self.greeting.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }

        /// What the client has sent since the last time.
        /// - Throws: `POSIXError`: `ECONNRESET` if the client has closed its socket without reading all
        func receive() throws -> [UInt8] {
            var received: [UInt8] = []
            while true {
                var bytes = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                if count < 0, errno == EAGAIN { return received }
                guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                guard count > 0 else { return received }
                received += bytes.prefix(count)
            }
        }
    }
}
