import HTTPServer
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Limiting the streams of a client` {
    /// Opens a stream and waits for its head. The fields come from a trusted proxy.
    private static func open(_ port: Int, _ fields: String) async throws -> (connection: RawConnection, status: String) {
        let connection = try RawConnection(port: port)
        try connection.send("GET /stream HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
        let head = try await connection.receive { $0.hasSuffix("\r\n\r\n") || $0.hasSuffix("}") }.text
        return (connection, String(head.prefix { !$0.isNewline }) + (head.contains("\r\nRetry-After: ") ? " later" : ""))
    }

    private static let (granted, refused) = ("HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests later")

    private static func withServer(
        _ limits: StreamLimits, _ body: @escaping @Sendable (Producer, Server, Int) async throws -> Void
    ) async throws {
        let producer = Producer()
        try await producer.router.withServer(Wire.configuration { $0.streams = OpenStreams(limits) }) { server, port in
            try await body(producer, server, port)
        }
    }

    @Test(arguments: [
        (["192.0.2.1", "192.0.2.1"], "192.0.2.1", "192.0.2.2"),
        (["2001:db8::1", "2001:db8::2"], "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"),
    ])
    func `an address, or a 64 in IPv6, with all its streams gets 429, and another address gets a stream`(
        first: [String], same: String, other: String
    ) async throws {
        try await Self.withServer(StreamLimits(perAddress: 2)) { producer, server, port in
            var open: [RawConnection] = []
            for (address, expected) in zip(first + [same, other], [Self.granted, Self.granted, Self.refused, Self.granted]) {
                let (connection, status) = try await Self.open(port, "X-Forwarded-For: \(address)")
                #expect(status == expected, "\(address)")
                open.append(connection)
            }
            #expect(server.configuration.streams.count == 3 && server.configuration.streams.refusals == 1)
            // Room for the next one.
            try await eventually("the streams") { producer.open.count == 3 }
            producer.open.first?.finish()
            try await eventually("the end of the first stream") { server.configuration.streams.count == 2 }
            let last = try await Self.open(port, "X-Forwarded-For: \(same)")
            #expect(last.status == Self.granted)
            withExtendedLifetime((open, last)) {}
        }
    }

    @Test func `a user with all its streams gets 429 from any address, and another user gets a stream`() async throws {
        try await Self.withServer(StreamLimits(perUser: 1)) { _, _, port in
            let first = try await Self.open(port, "User: 7\r\nX-Forwarded-For: 192.0.2.1")
            let second = try await Self.open(port, "User: 7\r\nX-Forwarded-For: 192.0.2.2")
            let other = try await Self.open(port, "User: 8\r\nX-Forwarded-For: 192.0.2.1")
            #expect([first, second, other].map(\.status) == [Self.granted, Self.refused, Self.granted])
        }
    }

    @Test func `an address that opens too many streams in a minute gets 429, although it has closed them`() async throws {
        try await Self.withServer(StreamLimits(openingsPerMinute: 2)) { producer, server, port in
            for _ in 0..<2 {
                let stream = try await Self.open(port, "X-Forwarded-For: 192.0.2.1")
                #expect(stream.status == Self.granted)
                try await producer.writer().finish()
                try await eventually("the end of the stream") { server.configuration.streams.count == 0 }
            }
            #expect(try await Self.open(port, "X-Forwarded-For: 192.0.2.1").status == Self.refused)
            #expect(try await Self.open(port, "X-Forwarded-For: 192.0.2.2").status == Self.granted)
        }
    }

    @Test func `bytes that wait for the event loop count, and a large part beyond the budget ends its stream`() async throws {
        try await Self.withServer(StreamLimits()) { producer, server, port in
            let client = try await Self.open(port, "A: b").connection
            let writer = try await producer.writer()
            let budget = server.configuration.budget
            budget.add(budget.limitBytes)
            writer.write("small".utf8)
            #expect(try await client.receive { $0.contains("small") }.text.contains("small"))
            writer.write(repeatElement(120, count: BufferBudget.trackedBytes))
            #expect(try await client.receive().isEnded)
            #expect(server.configuration.streams[.slow] == 1 && budget.refusals == 1)
            try await eventually("the release of the bytes") { budget.usedBytes == budget.limitBytes }
        }
    }

    @Test func `a producer that ends its stream at the drain has the last word`() async throws {
        let (producer, drain) = (Producer(), Drain())
        try await producer.router.withServer(Wire.configuration { $0.drain = drain }) { server, port in
            let client = try await Self.open(port, "A: b").connection
            let writer = try await producer.writer()
            writer.onDrain {
                writer.write("last".utf8)
                writer.finish()
            }
            drain.begin()
            let received = try await client.receive()
            #expect(received.text == "4\r\nlast\r\n0\r\n\r\n" && received.isEnded, "\(received.text)")
            #expect(server.configuration.streams[.drained] == 1)
        }
    }

    @Test func `a shutdown ends a stream whose producer does not end it`() async throws {
        let producer = Producer()
        let client = try await producer.router.withServer { _, port in
            let client = try await Self.open(port, "A: b").connection
            try await producer.writer().onDrain {}
            return client
        }
        let received = try await client.receive()
        #expect(received.text == "0\r\n\r\n" && received.isEnded)
    }
}
