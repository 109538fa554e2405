import HTTPServer
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

/// Keeps the writers of a route's streams until they end.
final class Producer: Sendable {
    private let writers = Mutex<[ResponseWriter]>([])
    private let ended = Atomic(0)

    var open: [ResponseWriter] { writers.withLock { $0 } }
    var endedCount: Int { ended.load(ordering: .relaxed) }

    /// The field `user` names the user of a stream.
    private static let user = HTTPField.Name("user")

    var router: Router {
        let stream = Route.immediate(.get, "/stream") { [self] request, _ in
            let user = Self.user.flatMap { request.headers[$0] }
            return Response(stream: ResponseStream(user: user, keep))
        }
        return Router(routes: Wire.routes.filter { $0.path != "/stream" } + [stream], logger: .silent)
    }

    private func keep(_ writer: ResponseWriter) {
        writers.withLock { $0.append(writer) }
        writer.onClose { [self] in
            writers.withLock { $0.removeAll { $0 === writer } }
            ended.add(1, ordering: .relaxed)
        }
    }

    /// Waits for the first stream.
    func writer() async throws -> ResponseWriter {
        try await eventually("a stream") { !self.open.isEmpty }
        return try #require(open.first)
    }
}

@Suite struct `Streaming a response` {
    @Test func `HTTP 1.1 gets each burst as a chunk and the last chunk at the end`() async throws {
        let producer = Producer()
        try await producer.router.withServer { _, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream"))
            let writer = try await producer.writer()
            writer.write("one".utf8)
            let first = try await client.receive { $0.hasSuffix("\r\n\r\n3\r\none\r\n") }.text
            #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n") && first.contains("\r\nTransfer-Encoding: chunked\r\n"), "\(first)")
            #expect(first.contains("\r\nConnection: close\r\n") && !first.contains("Content-Length"), "\(first)")
            writer.write(String(repeating: "x", count: 26).utf8)
            #expect(try await client.receive { $0.hasSuffix("x\r\n") }.text == "1a\r\n\(String(repeating: "x", count: 26))\r\n")
            writer.finish()
            let rest = try await client.receive()
            #expect(rest.text == "0\r\n\r\n" && rest.isEnded)
        }
        #expect(producer.endedCount == 1)
    }

    @Test func `HTTP 1.0 gets the bytes until the end of the connection`() async throws {
        let producer = Producer()
        try await producer.router.withServer { _, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream", version: "1.0"))
            let writer = try await producer.writer()
            writer.write("one".utf8)
            writer.finish()
            let received = try await client.receive()
            #expect(received.text.hasSuffix("\r\n\r\none") && received.isEnded, "\(received.text)")
            #expect(!received.text.contains("Transfer-Encoding"), "\(received.text)")
        }
    }

    @Test func `HEAD gets the head without a length, and opens no stream`() async throws {
        let producer = Producer()
        try await producer.router.withServer { server, port in
            let client = try RawConnection(port: port)
            try client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" + Wire.get("/"))
            let received = try await client.receive { $0.hasSuffix("small") }
            #expect(received.text.matches(of: /HTTP\/1\.1 200 OK/).count == 2, "\(received.text)")
            #expect(received.text.matches(of: /Content-Length/).count == 1, "\(received.text)")
            #expect(producer.open.isEmpty && server.configuration.streams.count == 0)
        }
    }

    @Test func `a request behind a stream is not served`() async throws {
        let producer = Producer()
        try await producer.router.withServer { _, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream") + Wire.get("/"))
            try await producer.writer().finish()
            let received = try await client.receive()
            #expect(received.text.hasSuffix("0\r\n\r\n") && received.isEnded, "\(received.text)")
            #expect(!received.text.contains("small"))
        }
    }

    @Test func `the producer hears of a client that has closed its connection`() async throws {
        let producer = Producer()
        try await producer.router.withServer { server, port in
            do {
                let client = try RawConnection(port: port)
                try client.send(Wire.get("/stream"))
                _ = try await producer.writer()
            }
            try await eventually("the end of the stream") { producer.endedCount == 1 }
            #expect(server.configuration.streams[.disconnected] == 1 && server.configuration.streams.count == 0)
        }
    }

    @Test func `a producer that is faster than its client waits for it, and the client gets all bytes`() async throws {
        let producer = Producer()
        try await producer.router.withServer { server, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream", version: "1.0"))
            let writer = try await producer.writer()
            let count = 8_000_000
            let writing = Task {
                let isWritten = await writer.writeAtPaceOfClient([UInt8](repeating: 120, count: count))
                writer.finish()
                return isWritten
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(producer.endedCount == 0 && server.configuration.budget.usedBytes <= ResponseWriter.unsentLimitBytes)
            let received = try await client.receive()
            #expect(received.isEnded && received.text.utf8.count > count)
            #expect(await writing.value)
            #expect(server.configuration.streams[.finished] == 1)
        }
    }

    @Test func `a producer that waits for its client hears that the client has left`() async throws {
        let producer = Producer()
        try await producer.router.withServer { _, port in
            let writing: Task<Bool, Never>
            do {
                let client = try RawConnection(port: port)
                try client.send(Wire.get("/stream"))
                let writer = try await producer.writer()
                writing = Task { await writer.writeAtPaceOfClient([UInt8](repeating: 120, count: 8_000_000)) }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(await !writing.value)
        }
    }

    @Test func `a client that does not read is disconnected, and its bytes leave the budget`() async throws {
        let producer = Producer()
        try await producer.router.withServer { server, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream"))
            let writer = try await producer.writer()
            let block = [UInt8](repeating: 120, count: 200_000)
            // The socket buffers of both sides take the first blocks.
            try await eventually("the end of the slow reader") {
                writer.write(block)
                // In the channel, and in blocks that the event loop has not passed on.
                let limit = 2 * (ResponseWriter.unsentLimitBytes + BufferBudget.trackedBytes)
                #expect(server.configuration.budget.usedBytes <= limit)
                return producer.endedCount == 1
            }
            #expect(server.configuration.streams[.slow] == 1)
            try await eventually("the release of the bytes") { server.configuration.budget.usedBytes == 0 }
            #expect(try await client.receive().isEnded)
        }
    }

    @Test func `a burst beyond the limit of unsent bytes disconnects the client`() async throws {
        let producer = Producer()
        try await producer.router.withServer { server, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream"))
            try await producer.writer().write(repeatElement(120, count: ResponseWriter.unsentLimitBytes + 1))
            #expect(try await client.receive().isEnded)
            #expect(server.configuration.streams[.slow] == 1)
        }
    }

    @Test func `the streams of a server that drains end properly, and new ones get 503`() async throws {
        let producer = Producer()
        let drain = Drain()
        try await producer.router.withServer(Wire.configuration { $0.drain = drain }) { server, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream"))
            try await producer.writer().write("one".utf8)
            drain.begin()
            let received = try await client.receive()
            #expect(received.text.hasSuffix("3\r\none\r\n0\r\n\r\n") && received.isEnded, "\(received.text)")
            let late = try RawConnection(port: port)
            try late.send(Wire.get("/stream"))
            let refused = try await late.receive { $0.hasSuffix("}") }.text
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("\r\nRetry-After: 1\r\n"), "\(refused)")
            #expect(server.configuration.streams[.drained] == 1)
        }
    }

    @Test func `streams beyond the limit get 503, and other requests are served`() async throws {
        let producer = Producer()
        let configuration = Wire.configuration {
            ($0.streams, $0.inFlight) = (OpenStreams(StreamLimits(total: 1)), InFlightRequests(waitingLimit: 1))
        }
        try await producer.router.withServer(configuration) { server, port in
            let first = try RawConnection(port: port)
            try first.send(Wire.get("/stream"))
            let writer = try await producer.writer()
            let second = try RawConnection(port: port)
            // The task of the open stream has ended, so it does not count as in flight.
            try second.send(Wire.get("/stream") + Wire.get("/task"))
            let received = try await second.receive { $0.hasSuffix("task") }.text
            #expect(received.hasPrefix("HTTP/1.1 503 "), "\(received)")
            #expect(server.configuration.streams.refusals == 1 && server.configuration.inFlight.count == 0)
            writer.finish()
            try await eventually("the end of the first") { server.configuration.streams.count == 0 }
            let third = try RawConnection(port: port)
            try third.send(Wire.get("/stream"))
            _ = try await producer.writer()
        }
    }

    @Test func `a silent stream outlives the time limits of requests`() async throws {
        let producer = Producer()
        let configuration = Wire.configuration {
            ($0.limits.idleSeconds, $0.limits.arrivalSeconds, $0.limits.responseSeconds) = (1, 1, 1)
        }
        try await producer.router.withServer(configuration) { _, port in
            let client = try RawConnection(port: port)
            try client.send(Wire.get("/stream"))
            let writer = try await producer.writer()
            #expect(try await client.received(for: .seconds(4)).isEnded == false)
            writer.finish()
            #expect(try await client.receive().text == "0\r\n\r\n")
        }
    }
}
