import EventStore
import HTTPTypes
import Postgres
import TestDatabase
import Testing

@Suite struct `Reading at a position that the log may reach` {
    @Test(.api()) func `a read of the next position gets 503 after a second without it`() async throws {
        let event = try await api.createEvent()
        let headers = ["humon-position": String(try await api.log.tail() + 1)]
        let start = ContinuousClock.now
        #expect(try await api.send(.get, "/v1/events/\(event)", headers: headers).status == 503)
        #expect(.now - start > .milliseconds(900))
    }

    @Test(.api(patienceSeconds: 60)) func `a read of the next position waits for it, and at most 16 reads wait`() async throws {
        // A busy machine may need more than a second for the events that the reads wait for.
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
