import Encoding
import HTTPTypes
import TestHTTP
import Testing

/// Sends the requests of each generation of clients in order over a connection.
@Suite struct `Old generations of clients` {
    private static let json = ["accept": "application/json", "content-type": "application/json"]

    @Test func `the beta sample signs up with X-APP-SECRET and goes on with X-DEVICE-TOKEN`() async throws {
        try await TestAPI.with(.live) { api in
            let signUp = try await api.send(
                .post, "/v1/users", headers: Self.json.merging(["X-APP-SECRET": TestAPI.secret]) { $1 }, bytes: [])
            #expect(signUp.status == 200)
            guard case .string(let token) = signUp.json?["device_token"] else {
                Issue.record("no device_token in \(signUp.body)")
                return
            }
            let created = try await api.send(
                .post, "/v1/events", headers: Self.json.merging(["X-DEVICE-TOKEN": token]) { $1 },
                bytes: Array(
                    #"{"name":"Beta","lat":37.7,"lon":-122.4,"started_at":"2013-09-16T00:00:00.000Z","owner":{"id":1}}"#.utf8)
            )
            #expect((created.status, created.body) == (200, #"{"id":1}"#))
        }
    }

    @Test func `the NSURLSession client signs up with its own UUID and reads device_token and id`() async throws {
        try await TestAPI.with(.live) { api in
            let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
            let headers = Self.json.merging(["tb-app-secret": TestAPI.secret, "tb-device-token": uuid]) { $1 }
            let signUp = try await api.send(.post, "/v1/users", headers: headers, bytes: [])
            #expect(signUp.json?["device_token"] == .string(uuid))
            #expect(signUp.id == 1)
            let event =
                #"{"name":"Picnic","address":"Dolores Park","lat":37.759,"lon":-122.427,"started_at":"2013-09-16T00:00:00Z"}"#
            let created = try await api.send(
                .post, "/v1/events", headers: Self.json.merging(["tb-device-token": uuid]) { $1 }, bytes: Array(event.utf8))
            #expect(created.id == 1)
        }
    }

    @Test func `the book's final app signs up with the secret alone, changes, attends and reloads the map`() async throws {
        try await TestAPI.with(.live) { api in
            let signUp = try await api.send(
                .post, "/v1/users", headers: Self.json.merging(["tb-app-secret": TestAPI.secret]) { $1 }, bytes: [])
            guard case .string(let token) = signUp.json?["auth_token"] else {
                Issue.record("no auth_token in \(signUp.body)")
                return
            }
            let headers = Self.json.merging(["tb-auth-token": token]) { $1 }
            func send(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws -> TestAPI.Answer {
                try await api.send(method, path, headers: headers, bytes: Array(body.utf8))
            }
            let fields =
                #""name":"Picnic","address":"Park","lat":37.759,"lon":-122.427,"started_at":"2013-09-16T00:00:00.000Z","ended_at":null"#
            #expect(try await send(.post, "/v1/events", "{\(fields)}").body == #"{"id":1}"#)
            #expect(try await send(.patch, "/v1/events/1", #"{"id":"1",\#(fields)}"#).body == #"{"id":1}"#)
            #expect(try await send(.post, "/v1/attendances", #"{"event":{"id":"1"}}"#).body == "{}")
            let near = try await send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43&radius=1", "")
            guard case .array(let events) = near.json, let event = events.first, case .object(let members) = event else {
                Issue.record("no array of events in \(near.body)")
                return
            }
            #expect(members.members.map(\.name) == ["address", "ended_at", "id", "lat", "lon", "name", "started_at", "owner"])
            #expect(event["owner"]?["id"] == signUp.json?["id"])
            #expect(
                try await send(.get, "/v1/events/nearests?lat=0&lon=0&radius=1", "").body == #"{"message":"No Events Found"}"#)
        }
    }

    @Test func `the AFNetworking client sends forms and searches for the nearest events`() async throws {
        try await TestAPI.with(.live) { api in
            let type = ["content-type": "application/x-www-form-urlencoded; charset=utf-8"]
            let signUp = try await api.send(
                .post, "/v1/users", headers: type.merging(["tb-app-secret": TestAPI.secret]) { $1 }, bytes: [])
            guard case .string(let token) = signUp.json?["auth_token"] else {
                Issue.record("no auth_token in \(signUp.body)")
                return
            }
            let headers = type.merging(["tb-auth-token": token]) { $1 }
            let body =
                "address=85%202nd%20Street&lat=37.7884&lon=-122.3999&name=Caf%C3%A9&started_at=2013-09-16T00%3A00%3A00.000Z"
            #expect(try await api.send(.post, "/v1/events", headers: headers, bytes: Array(body.utf8)).body == #"{"id":1}"#)
            #expect(
                try await api.send(.post, "/v1/attendances", headers: headers, bytes: Array("event%5Bid%5D=1".utf8)).body == "{}")
            let near = try await api.send(.get, "/v1/events/nearest?lat=37.788&lon=-122.4&radius=0.5", headers: headers)
            #expect(near.body.contains(#""name":"Café""#))
        }
    }
}
