import Encoding
import HTTPServer
import HTTPTypes
import NIOCore
import TestExposition
import TestHTTP
import Testing

@testable import HTTP

@Suite struct `A server without one of the apps` {
    static let each: [Set<ServedApp>] = [[.events], [.tasks], .all]
    private static let paths: [ServedApp: [(HTTPRequest.Method, String)]] = [
        .events: [
            (.get, "/v1/users/me"), (.post, "/v1/events"), (.get, "/v1/events/1"), (.get, "/v1/events/nearests?lat=1&lon=1"),
            (.get, "/v1/events/changes"), (.post, "/v1/attendances"), (.get, "/v1/events/1/attendances"),
        ],
        .tasks: [
            (.post, "/v1/users/sign_in"), (.put, "/v1/users/password"), (.get, "/v1/tasks"), (.put, "/v1/tasks/1.json"),
        ],
    ]

    @Test(arguments: [ServedApp.events, .tasks])
    func `a path of the app that is left out gets the response of an unknown path`(leftOut: ServedApp) async throws {
        try await TestAPI.with(apps: Set.all.subtracting([leftOut])) { api in
            func answer(_ method: HTTPRequest.Method, _ path: String) async throws -> [String] {
                let answer = try await api.send(method, path, token: "device", "{}")
                return ["\(answer.status)", answer.body]
                    + ["allow", "cache-control", "content-type"].map { "\(answer.header($0) ?? "")" }
            }
            for (method, path) in try #require(Self.paths[leftOut]) {
                #expect(try await answer(method, path) == answer(method, "/v1/nowhere"), "\(method) \(path)")
            }
        }
    }

    @Test func `without the to-do app a sign-up with a user object is a device's`() async throws {
        try await TestAPI.with(apps: [.events]) { api in
            let body = #"{"user":{"name":"Ann","email":"ann@example.org","password":"correct horse"}}"#
            let hidden = try await api.send(.post, "/v1/users", body)
            #expect((hidden.status, hidden.body) == (404, ""))
            let device = try await api.send(
                .post, "/v1/users", token: "device", body, headers: ["tb-app-secret": TestAPI.secret])
            #expect(device.body == #"{"id":1,"device_token":"device","auth_token":"device"}"#)
            #expect(try await api.createEvent("device") == 1)
        }
    }

    @Test func `without the map of events accounts sign up and keep tasks, and a device's sign-up is hidden`() async throws {
        try await TestAPI.with(apps: [.tasks]) { api in
            let token = try await api.signUpAccount()
            #expect(try await api.signIn().status == 200)
            let task = try await api.send(
                .post, "/v1/tasks", #"{"task":{"title":"Tea"}}"#, headers: ["authorization": "Bearer \(token)"])
            #expect(task.body == #"{"id":1,"title":"Tea","completed":false}"#)
            let device = try await api.send(.post, "/v1/users", headers: ["tb-app-secret": TestAPI.secret])
            #expect((device.status, device.body) == (404, ""))
        }
    }

    @Test(arguments: each)
    func `the operators' metrics have those of the served app only, and the index is compared where it is`(
        apps: Set<ServedApp>
    ) async throws {
        try await TestAPI.with(apps: apps) { api in
            let metrics = try Exposed(try await api.ask("/metrics").body).samples.keys
            for name in ["humon_index_phase", "humon_reads_total", "humon_attendance_counts_in_use", "humon_changes_streams"] {
                #expect(metrics.contains { $0.hasPrefix(name) } == apps.contains(.events), "\(name)")
            }
            #expect(metrics.contains { $0.contains("/v1/tasks") } == apps.contains(.tasks))
            #expect(try await api.ask("/index/check").status == (apps.contains(.events) ? 200 : 404))
            #expect(try await api.ask("/health/ready").status == 200)
        }
    }
}

@Suite struct `The names of apps` {
    @Test func `a list names each app at most once, and no other app`() {
        #expect(Set<ServedApp>("events,tasks") == .all)
        #expect(Set<ServedApp>("tasks") == [.tasks])
        for text in ["", ",", "events,", "tasks,tasks", "Events", "events tasks", "map"] {
            #expect(Set<ServedApp>(text) == nil, "\(text)")
        }
    }
}
