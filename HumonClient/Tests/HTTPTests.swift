import Foundation
import TestDatabase
import TestServer
import Testing

@testable import HumonClient

@Suite struct `The requests of the client` {
    @Test(.client)
    func `a read sends the position of the last write, until a second refusal that no server reaches it`() async throws {
        let stranger = try TestClient(client.relay)
        let before = try await client.requests { _ = try await stranger.humon.events(in: TestClient.near) }
        #expect(field("Humon-Position", in: try #require(before.first)) == nil)
        let id = try await client.humon.create(TestClient.draft())
        client.relay.next(.problem(503, "position_not_reached"), .problem(503, "position_not_reached"))
        let requests = try await client.requests { _ = try await client.humon.event(id) }
        let sent = requests.map { field("Humon-Position", in: $0) }
        #expect(sent[0]?.wholeMatch(of: /2\.[a-p]{8}/) != nil && sent == [sent[0], sent[0], nil], "\(sent)")
    }

    @Test(.clientAlone()) func `a redirection is not followed, and the token goes nowhere`() async throws {
        client.tokens.save(DeviceTokens(current: "a"))
        let other = try Relay(to: nil)
        defer { other.stop() }
        client.relay.next(
            .answer(
                "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:\(other.port)/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ))
        await #expect { try await client.humon.me() } throws: { error in
            (error as? HumonError)?.problem?.status == 302
        }
        #expect(client.relay.requests.count == 1 && other.requests.isEmpty)
    }

    @Test(.clientAlone()) func `a cookie is not kept`() async throws {
        client.tokens.save(DeviceTokens(current: "a"))
        let user = Relay.Fate.response(200, type: "application/json", fields: "Set-Cookie: a=b; Path=/\r\n", body: #"{"id":1}"#)
        client.relay.next(user, user)
        let requests = try await client.requests { for _ in 0..<2 { _ = try await client.humon.me() } }
        #expect(requests.count == 2 && requests.allSatisfy { field("Cookie", in: $0) == nil })
    }

    @Test(.clientAlone()) func `a body that is not of the API is an unusable response`() async throws {
        for body in ["<html>", "{}", #"{"message":"Hello"}"#, #"[{"id":1}]"#, ""] {
            client.relay.next(.response(200, type: "text/html", body: body))
            await #expect("\(body)") { try await client.humon.events(in: TestClient.near) } throws: { error in
                if case .unusableResponse? = error as? HumonError { true } else { false }
            }
        }
    }

    @Test(.client) func `a device keeps its user through rotations until it is forgotten or erased`() async throws {
        let user = try await client.humon.me()
        // Another process replaces the token.
        let other = HumonAPI(
            server: try #require(URL(string: "http://127.0.0.1:\(client.relay.port)")), tokens: client.tokens)
        #expect(try await other.rotateToken() == user)
        var again: User?
        let requests = try await client.requests { again = try await client.humon.me() }
        #expect(again == user && requests.count == 2)

        // A rotation that lost its response is finished by the next one, with the same token.
        let old = try #require(client.tokens.load()?.current)
        client.relay.next(.loseResponse, .cut, .cut, .cut)
        await #expect(throws: HumonError.self) { try await client.humon.rotateToken() }
        let next = try #require(client.tokens.load()?.next)
        #expect(try await client.humon.rotateToken() == user)
        #expect(client.tokens.load() == DeviceTokens(current: next) && next != old)
        #expect(try await client.humon.me() == user)

        try await client.humon.forgetDevice()
        await #expect(throws: HumonError.notSignedUp) { try await client.humon.me() }
        #expect(try await client.humon.signUp() != user)

        let id = try await client.humon.create(TestClient.draft("Tea"))
        client.relay.next(.loseResponse)
        try await client.humon.eraseUser()
        #expect(client.tokens.load() == nil)
        await #expect { try await client.humon.event(id) } throws: { error in
            (error as? HumonError)?.problem?.code == .notFound
        }
    }

    @Test(.client) func `a pass brings the user to another device, also if the first response gets lost`() async throws {
        let user = try await client.humon.me()
        let kept = try await client.humon.issuePass(.recovery)
        let code = try await client.humon.issuePass(.transfer)
        #expect(kept.expiresAt == nil && code.expiresAt != nil)
        let server = try #require(URL(string: "http://a"))
        let address = try await client.humon.issuePass(.calendar).calendarAddress(at: server)
        #expect(address?.absoluteString.wholeMatch(of: /http:\/\/a\/v1\/calendars\/[0-9A-Z]{26}\.ics/) != nil)
        #expect(kept.calendarAddress(at: server) == nil)
        try await client.humon.endPass(.calendar)
        let listed = try await client.humon.passes()
        #expect(listed.map(\.kind) == [.recovery, .transfer] && listed.allSatisfy { $0.secret == nil })
        #expect(!"\(code) \(String(reflecting: code))".contains(try #require(code.secret)))

        let other = try TestClient(client.relay)
        client.relay.next(.loseResponse, .cut, .cut, .cut)
        await #expect(throws: HumonError.self) { try await other.humon.comeBack(with: code.secret ?? "") }
        let pending = try #require(other.tokens.load()?.next)
        #expect(try await other.humon.comeBack(with: (code.secret ?? "").lowercased()) == user)
        #expect(other.tokens.load() == DeviceTokens(current: pending))
        #expect(try await other.humon.me() == user)
        await #expect { try await client.humon.me() } throws: { error in
            (error as? HumonError)?.problem?.code == .unauthorized
        }

        // A device that is another user keeps its token until the response.
        let third = try TestClient(client.relay)
        let stranger = try await third.humon.signUp()
        await #expect { try await third.humon.comeBack(with: code.secret ?? "") } throws: { error in
            (error as? HumonError)?.problem?.code == .notFound
        }
        #expect(try await third.humon.me() == stranger)
        #expect(try await third.humon.comeBack(with: kept.secret ?? "") == user)

        // Its response is lost, and the next device comes first.
        client.relay.next(.loseResponse, .cut, .cut, .cut)
        await #expect(throws: HumonError.self) { try await other.humon.comeBack(with: kept.secret ?? "") }
        #expect(try await third.humon.comeBack(with: kept.secret ?? "") == user)
        #expect(try await other.humon.comeBack(with: kept.secret ?? "") == user)
        try await other.humon.endPass(.recovery)
        #expect(try await other.humon.passes().isEmpty)
    }

    @Test(.clientAlone()) func `the device keeps its token until the server says that nothing is left of the user`() async throws
    {
        let tokens = DeviceTokens(current: "a")
        client.tokens.save(tokens)
        let fields = "Location: /v1/erasures/7\r\nRetry-After: 1\r\n"
        let later = Relay.Fate.response(202, type: "application/json", fields: fields, body: "{}")
        for _ in 0..<11 { client.relay.next(later) }
        await #expect(throws: HumonError.erasing(id: "7")) { try await client.humon.eraseUser() }
        #expect(client.tokens.load() == tokens)
        #expect(client.relay.requests.count == 11)
        #expect(client.relay.requests.allSatisfy { field("tb-device-token", in: $0) == "a" })
        #expect(client.pauses.all == [Duration](repeating: .seconds(1), count: 10))

        // A server that does not know the token does not know either whether the user is erased.
        client.relay.next(.problem(401, "unauthorized"))
        await #expect { try await client.humon.eraseUser() } throws: { error in
            (error as? HumonError)?.problem?.code == .unauthorized
        }
        #expect(client.tokens.load() == tokens)

        client.relay.next(later, .response(200, type: "application/json", body: "{}"))
        try await client.humon.eraseUser()
        #expect(client.tokens.load() == nil)
        client.relay.next(.response(200, type: "application/json", body: #"{"state":"erased"}"#))
        #expect(try await client.humon.isErased("7"))
    }
}

@Suite struct `Cancelling a task` {
    @Test(.clientAlone()) func `the request ends and its connection closes`() async throws {
        client.relay.next(.hang)
        let task = Task { try await client.humon.events(in: TestClient.near) }
        try await eventually("the request") { client.relay.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("the end of the connection") { client.relay.closedByClient.count == 1 }
        #expect(client.relay.requests.count == 1 && client.pauses.all.isEmpty)
    }

    @Test(.clientAlone()) func `a task that is cancelled already sends nothing that remains`() async throws {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.humon.events(in: TestClient.near)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.client) func `the connection of a stream closes when its task is cancelled, and when its loop is left`() async throws {
        @Sendable func closedStreams() -> Int { client.relay.closedByClient.filter { $0.contains("/changes?") }.count }
        let seen = MemoryList<Change>()
        let task = Task { for try await change in client.humon.changes(in: TestClient.near) { seen.append(change) } }
        try await eventually("the stream") { client.relay.requests.contains { $0.contains("/changes?") } && !seen.all.isEmpty }
        #expect(closedStreams() == 0)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("the end of the cancelled connection") { closedStreams() == 1 }

        for try await change in client.humon.changes(in: TestClient.near) {
            if case .list = change { _ = try await client.humon.create(TestClient.draft()) }
            if case .put = change { break }
        }
        try await eventually("the end of the connection") { closedStreams() == 2 }
    }
}
