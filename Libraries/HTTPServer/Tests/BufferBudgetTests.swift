import Foundation
import HTTPServer
import NIOCore
import NIOEmbedded
import Synchronization
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Limiting buffered bytes` {
    private static func budget(_ bytes: Int) -> ServerConfiguration {
        Wire.configuration { $0.budget = BufferBudget(limitBytes: bytes) }
    }

    private static func status(_ connection: RawConnection) async throws -> String {
        let answer = try await connection.receive { $0.hasSuffix("x") || $0.hasSuffix("}") || $0.hasSuffix("small") }
        return String(answer.text.dropFirst(9).prefix(3))
    }

    @Test func `buffered bytes stay within the budget however many clients do not read`() async throws {
        let limit = 20 * Wire.largeBytes
        try await Wire.router.withServer(Self.budget(limit)) { server, port in
            let budget = server.configuration.budget
            var slow: [RawConnection] = []
            // The socket buffers of both sides take a part of each response.
            for _ in 0..<200 {
                let connection = try RawConnection(port: port)
                try connection.send(String(repeating: Wire.get("/large"), count: 8))
                slow.append(connection)
                #expect(budget.usedBytes <= limit)
            }
            try await eventually("a refusal or the end of a slow reader") {
                budget.refusals > 0 || budget.closedConnections > 0
            }
            #expect(budget.usedBytes <= limit)
            // Small responses need no room in the budget.
            let reader = try RawConnection(port: port)
            try reader.send(Wire.get("/"))
            #expect(try await Self.status(reader) == "200")
        }
    }

    @Test func `the budget counts all memory of a body until its last piece is sent`() throws {
        final class Handler: ChannelOutboundHandler { typealias OutboundIn = ByteBuffer }
        let (handler, budget) = (Handler(), BufferBudget())
        let channel = EmbeddedChannel(handler: handler)
        let context = try channel.pipeline.syncOperations.context(handler: handler)
        let body = ByteBuffer(repeating: 120, count: 300_000)
        #expect(body.storageCapacity > body.readableBytes)
        var promises: [EventLoopPromise<Void>] = []
        UnsentBytes(budget).write(body, context) { _, promise in promises.append(promise!) }
        #expect(promises.count == 5)
        for promise in promises {
            #expect(budget.usedBytes == body.storageCapacity)
            promise.succeed()
        }
        #expect(budget.usedBytes == 0)
        _ = try channel.finish()
    }

    @Test func `a slow reader loses its connection while the budget is short of room`() throws {
        final class Handler: ChannelOutboundHandler { typealias OutboundIn = ByteBuffer }
        let (handler, budget) = (Handler(), BufferBudget(limitBytes: 30_000))
        let channel = EmbeddedChannel(handler: handler)
        let context = try channel.pipeline.syncOperations.context(handler: handler)
        let promise = try #require(UnsentBytes(budget).willWrite(20_000, context))
        #expect(budget.usedBytes == 20_000)
        let deadline = NIODeadline.now() + .seconds(60)
        while budget.closedConnections == 0, .now() < deadline {
            usleep(100_000)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(budget.closedConnections == 1)
        promise.succeed()
        #expect(budget.usedBytes == 0)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a client that reads nothing is closed, and one that reads is not`() async throws {
        // Each response exceeds the socket buffers, so these use more than half of the limit.
        try await Wire.router.withServer(Self.budget(40 * Wire.largeBytes)) { server, port in
            let slow = try RawConnection(port: port)
            try slow.send(String(repeating: Wire.get("/large"), count: 2))
            let budget = server.configuration.budget
            // Other connections use the rest.
            budget.add(30 * Wire.largeBytes)
            defer { budget.remove(30 * Wire.largeBytes) }
            let stuck = try RawConnection(port: port)
            try stuck.send(String(repeating: Wire.get("/large"), count: 9))
            try await eventually("the end of the slow reader") { budget.closedConnections > 0 }
            let reader = try RawConnection(port: port)
            try reader.send(Wire.get("/large"))
            #expect(try await Self.status(reader) == "200")
        }
    }

    @Test func `bodies count while they arrive, and a body without room is refused with 503`() async throws {
        try await Wire.router.withServer(Self.budget(100_000)) { server, port in
            let head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
            let part = String(repeating: "x", count: 59_999)
            let first = try RawConnection(port: port)
            try first.send(head + part)
            try await eventually("the arrival of a body") { server.configuration.budget.usedBytes == part.utf8.count }
            let second = try RawConnection(port: port)
            try second.send(head + part)
            let refused = try await second.receive()
            #expect(refused.text.hasPrefix("HTTP/1.1 503 ") && refused.isEnded, "\(refused.text)")
            try first.send("x")
            #expect(try await first.receive { $0.hasSuffix("xxx") }.text.hasPrefix("HTTP/1.1 200 "))
            try await eventually("the end of the use") { server.configuration.budget.usedBytes == 0 }
        }
    }
}
