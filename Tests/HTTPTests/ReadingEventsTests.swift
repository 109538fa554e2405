import Encoding
import EventStore
import HTTP
import HTTPTypes
import Postgres
import TestDatabase
import TestHTTP
import Testing

@Suite struct `What no event can be` {
    @Test func `an id far beyond the last one gets 404 while the table of events cannot be read`() async throws {
        try await TestAPI.with { api in
            let event = try await api.createEvent()
            try await api.database.withClient { client in
                try await client.withConnection { connection in
                    try await connection.query("BEGIN")
                    try await connection.query("LOCK TABLE events_v1.events IN ACCESS EXCLUSIVE MODE")
                    for _ in 0..<3 {
                        for path in ["/v1/events/9223372036854775807", "/v1/events/\(event + 2_000_000)"] {
                            let answer = try await api.send(.get, path)
                            #expect((answer.status, answer.body) == (404, notFound))
                        }
                    }
                    try await connection.query("ROLLBACK")
                }
            }
            // An id that may be given soon is looked up.
            let next = try await api.send(.get, "/v1/events/\(event + 1)")
            #expect(next.status == 404)
        }
    }

    @Test func `a read of the next position gets 503 after a second without it`() async throws {
        try await TestAPI.with { api in
            let event = try await api.createEvent()
            let headers = ["humon-position": String(try await api.log.tail() + 1)]
            let start = ContinuousClock.now
            #expect(try await api.send(.get, "/v1/events/\(event)", headers: headers).status == 503)
            #expect(.now - start > .milliseconds(900))
        }
    }

    @Test func `a read of the next position waits for it, and at most 16 reads wait`() async throws {
        // A busy machine may need more than a second for the events that the reads wait for.
        try await TestAPI.with(patienceSeconds: 60) { api in
            let event = try await api.createEvent()
            let headers = ["humon-position": String(try await api.log.tail() + 1)]
            async let waiting = api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43", headers: headers)
            try await Task.sleep(for: .milliseconds(100))
            _ = try await api.createEvent()
            #expect(try await waiting.status == 200)
            // A client cannot occupy the places of other reads.
            let later = ["humon-position": String(try await api.log.tail() + 16)]
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await api.send(.get, "/v1/events/\(event)", headers: later).status }
                }
                for _ in 0..<24 { #expect(try await group.next() == 503) }
                for _ in 0..<16 { _ = try await api.createEvent() }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == Array(repeating: 200, count: 16))
        }
    }
}

@Suite struct `Attending an event over HTTP` {
    @Test func `attending works with every generation's body, and a repetition changes nothing`() async throws {
        let cases: [(type: String, body: String)] = [
            ("application/json", #"{"event":{"id":1}}"#), ("application/json", #"{"event":{"id":"1"}}"#), (form, "event[id]=1"),
            (form, "event%5Bid%5D=1"), ("application/json; charset=utf-8", #"{"event":{"id":1.0}}"#),
            ("Application/JSON", #"{"event":{"id":1}}"#), ("APPLICATION/X-WWW-Form-Urlencoded ;Charset=UTF-8", "event[id]=1"),
        ]
        try await TestAPI.with { api in
            _ = try await api.createEvent("owner")
            for (number, (type, body)) in cases.enumerated() {
                let guest = "guest-\(number)"
                let user = try #require(try await api.signUp(guest).id, "\(type): \(body)")
                for _ in 0..<2 {
                    let answer = try await api.send(.post, "/v1/attendances", token: guest, type: type, body)
                    #expect((answer.status, answer.body) == (200, "{}"), "\(type): \(body)")
                }
                #expect(try await api.log.read(stream: .init("attendance-1-\(user)")).count == 1, "\(type): \(body)")
            }
        }
    }

    @Test func `attending an unknown event gets 404`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent("owner")
            for id in ["2", "\"2\"", "0", "-5", "99999999999999999999", "1e400"] {
                let answer = try await api.send(.post, "/v1/attendances", token: "owner", #"{"event":{"id":\#(id)}}"#)
                #expect((answer.status, answer.body) == (404, notFound), "\(id)")
            }
        }
    }

    @Test func `attending without a valid event number gets 422`() async throws {
        let cases: [(body: String, error: String)] = [
            ("{}", "Event can't be blank"), (#"{"event":null}"#, "Event can't be blank"),
            (#"{"event":7}"#, "Event can't be blank"),
            (#"{"event":{"id":""}}"#, "Event can't be blank"), (#"{"event":{"id":"seven"}}"#, "Event is not a number"),
            (#"{"event":{"id":1.5}}"#, "Event is not a number"), (#"{"event":{"id":{}}}"#, "Event is not a number"),
        ]
        try await TestAPI.with { api in
            try await api.signUp("guest")
            for (body, error) in cases {
                let answer = try await api.send(.post, "/v1/attendances", token: "guest", body)
                #expect(
                    (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":["\#(error)"]}"#), "\(body)")
            }
        }
    }
}
