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
