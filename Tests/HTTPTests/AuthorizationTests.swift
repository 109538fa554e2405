import EventStore
import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `Requests without a token` {
    /// Requests every route, so that a route that is added later is checked too.
    @Test(.api()) func `a write without a token gets 401 and records nothing, on every route`() async throws {
        let cases: [[String: String]] = [[:], ["tb-device-token": ""], ["tb-app-secret": TestAPI.secret]]
        let id = try await api.createEvent()
        let recorded = try await api.log.tail()
        let writing = api.routes.filter { $0.method != .get && !["createUser", "returnUser", "signIn"].contains($0.operation) }
        try #require(writing.count > 3)
        for headers in cases {
            for route in writing {
                let path = route.path.replacing("{id}", with: "\(id)")
                for body in [TestAPI.required, #"{"event":{"id":\#(id)}}"#] {
                    let answer = try await api.send(route.method, path, body, headers: headers)
                    #expect((answer.status, answer.body) == (401, ""), "\(headers) \(route.operation)")
                }
            }
            #expect(try await api.log.tail() == recorded, "\(headers)")
        }
    }

    @Test(.api(reads: .devices)) func `a read without a token gets 401 if reads are for devices only`() async throws {
        let id = try await api.createEvent()
        let reading = api.routes.filter { $0.method == .get && $0.path.hasPrefix("/v1/events") }
        try #require(reading.count > 2)
        for route in reading {
            let answer = try await api.send(.get, route.path.replacing("{id}", with: "\(id)") + "?lat=37.76&lon=-122.43")
            #expect((answer.status, answer.body) == (401, ""), "\(route.operation)")
        }
    }
}
