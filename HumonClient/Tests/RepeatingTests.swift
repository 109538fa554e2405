import Foundation
import TestServer
import Testing

@testable import HumonClient

@Suite struct `Repeating requests` {
    @Test(.client) func `a write that lost its responses is carried out once, under one key`() async throws {
        client.relay.next(.loseResponse, .problem(503, "database_unavailable"), .loseResponse)
        var id: Event.ID?
        let requests = try await client.requests { id = try await client.humon.create(TestClient.draft()) }
        #expect(requests.count == 4)
        #expect(Set(requests.map { field("Idempotency-Key", in: $0) }).count == 1)
        #expect(Set(requests.map { $0.split(separator: "\r\n\r\n").last }).count == 1)
        #expect(try await client.humon.myEvents().elements.map(\.id) == [id])
        #expect(client.pauses.all.count == 3)
    }

    @Test(.client) func `each intent has a key of its own, unless the caller gives it one`() async throws {
        let key = IdempotencyKey()
        var ids: [Event.ID] = []
        let requests = try await client.requests {
            for _ in 0..<2 { ids.append(try await client.humon.create(TestClient.draft())) }
            for _ in 0..<2 { ids.append(try await client.humon.create(TestClient.draft(), key: key)) }
        }
        #expect(Set(ids).count == 3 && ids[2] == ids[3])
        let keys = requests.compactMap { field("Idempotency-Key", in: $0) }
        #expect(Set(keys).count == 3 && keys[2] == key.rawValue && keys[3] == key.rawValue)
    }

    @Test(.client) func `changes, cancellations and attendances survive a lost response`() async throws {
        let humon = client.humon
        let id = try await humon.create(TestClient.draft())
        let version = try await humon.event(id).version
        client.relay.next(.loseResponse)
        try await humon.change(id, EventPatch(name: "Tea"), if: version)
        let tea = try await humon.event(id)
        #expect(tea.name == "Tea")
        client.relay.next(.loseResponse)
        try await humon.replace(id, with: EventDraft(tea.value), if: tea.version)
        client.relay.next(.loseResponse)
        try await humon.attend(id)
        client.relay.next(.loseResponse)
        try await humon.leave(id)
        #expect(try await humon.attendance(of: id) == AttendanceSummary(count: 0, attending: false))
        client.relay.next(.loseResponse)
        try await humon.cancel(id)
        await #expect { try await humon.event(id) } throws: { error in
            (error as? HumonError)?.problem?.code == .eventCancelled
        }
    }

    @Test(.client) func `a read is repeated after a lost connection and after every refusal that passes`() async throws {
        let fates: [Relay.Fate] = [
            .cut, .loseResponse, .problem(408, "request_timeout"), .problem(500, "internal_server_error"),
            .problem(503, "overloaded", fields: "Retry-After: 3\r\n"), .response(502, type: "text/html", body: "<html>"),
            .problem(429, "too_many_requests"),
        ]
        for fate in fates {
            client.relay.next(fate)
            let requests = try await client.requests { _ = try await client.humon.me() }
            #expect(requests.count == 2, "\(fate)")
        }
        #expect(client.pauses.all.count == fates.count)
        #expect(client.pauses.all[4] == .seconds(3))
    }

    @Test(.clientAlone()) func `the last error is thrown after the last attempt`() async throws {
        await #expect { try await client.humon.signUp() } throws: { error in
            if case .connectionFailed? = error as? HumonError { true } else { false }
        }
        #expect(client.relay.requests.count == RetryPolicy.standard.attempts)
    }

    @Test(.clientAlone()) func `a write without a token is not sent`() async throws {
        await #expect(throws: HumonError.notSignedUp) { try await client.humon.create(TestClient.draft()) }
        await #expect(throws: HumonError.notSignedUp) { try await client.humon.rotateToken() }
        #expect(client.relay.requests.isEmpty)
    }

    @Test(.clientAlone(retries: .never, timeout: .milliseconds(200)))
    func `a response that takes longer than its time is a failed connection`() async throws {
        client.relay.next(.hang)
        await #expect(throws: HumonError.connectionFailed(.timedOut)) { try await client.humon.signUp() }
    }

    @Test func `a sign-up that lost its response is the same user`() async throws {
        try await HumonProcess.withServer { _, port, _ in
            let relay = try Relay(to: port)
            defer { relay.stop() }
            let client = try TestClient(relay)
            relay.next(.loseResponse)
            let user = try await client.humon.signUp()
            #expect(user == User(id: 1))
            #expect(try await client.humon.signUp() == user)
        }
    }
}
