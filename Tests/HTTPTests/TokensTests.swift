import Encoding
import EventStore
import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite(.api()) struct `The caller and the caller's token over HTTP` {
    @Test func `a replaced token gets 401 for a write that the server carried out or refused before`() async throws {
        let cases: [(method: HTTPRequest.Method, target: String, body: String, status: Int)] = [
            (.patch, "/v1/events/own", TestAPI.required, 200),
            (.patch, "/v1/events/1", TestAPI.required, 403),
            (.patch, "/v1/events/none", TestAPI.required, 404), (.delete, "/v1/events/own", "", 200),
            (.delete, "/v1/events/1", "", 403), (.put, "/v1/events/1/attendance", "", 200),
            (.delete, "/v1/events/1/attendance", "", 200), (.put, "/v1/events/99/attendance", "", 404),
            (.post, "/v1/events", TestAPI.required, 200),
            (.post, "/v1/attendances", #"{"event":{"id":1}}"#, 200), (.post, "/v1/attendances", #"{"event":{"id":1e30}}"#, 404),
        ]
        #expect(try await api.createEvent("neighbour") == 1)
        for (number, (method, target, body, status)) in cases.enumerated() {
            let (old, new) = ("old-\(number)", "new-\(number)")
            // The server remembers the user of the token from here on.
            let own = try await api.createEvent(old)
            let path = target.replacing("own", with: "\(own)")
            // The second time, a write that changes something the first time changes nothing.
            for _ in 0..<2 {
                #expect(try await api.send(method, path, token: old, body).status == status, "\(method) \(target) \(body)")
            }
            #expect(
                try await api.send(.post, "/v1/users/me/token", token: old, #"{"device_token":"\#(new)"}"#).status == 200,
                "\(method) \(target) \(body)")
            let tail = try await api.log.tail()
            let answer = try await api.send(method, path, token: old, body)
            #expect((answer.status, answer.body) == (401, ""), "\(method) \(target) \(body)")
            #expect(try await api.log.tail() == tail, "\(method) \(target) \(body)")
            #expect(try await api.send(method, path, token: new, body).status == status, "\(method) \(target) \(body)")
        }
    }
}

@Suite struct `The secrets of the app` {
    private static func request(_ secret: String) -> Request {
        Request(
            head: HTTPRequest(
                method: .post, scheme: nil, authority: nil, path: "/v1/users",
                headerFields: [HTTPField.Name.appSecrets[0]: secret]))
    }

    @Test func `the secret and the previous one are accepted, and no other text`() {
        let secrets = SharedSecret("new-secret", previous: "old-secret")
        for secret in ["old-secret", "new-secret"] { #expect(Self.request(secret).carries(secrets)) }
        for secret in ["", "old-secre", "old-secret,new-secret", ",", "old-secret,", "OLD-SECRET"] {
            #expect(!Self.request(secret).carries(secrets), "\(secret)")
        }
        #expect(!Self.request("old-secret").carries(SharedSecret("new-secret")))
    }

    @Test(arguments: ["", "1234567", "12345678,", "1234 5678", "a,12345678", "geheimnöss", "12345678\u{7F}"])
    func `a short secret, and one with a comma, a space or another character, is unusable`(secret: String) {
        #expect(!SharedSecret.isUsable(secret))
    }

    @Test(arguments: ["12345678", "s3cret-of-the-app", String(repeating: "f0", count: 32)])
    func `a secret of eight visible characters or more is usable`(secret: String) {
        #expect(SharedSecret.isUsable(secret))
    }

    @Test func `a description of the secrets does not contain them`() {
        #expect("\(SharedSecret("new", previous: "old"))" == "SharedSecret(redacted)")
        #expect(String(reflecting: SharedSecret("new", previous: "old")).contains("redacted"))
        #expect(Mirror(reflecting: SharedSecret("new", previous: "old")).children.isEmpty)
    }
}
