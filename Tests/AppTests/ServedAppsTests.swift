import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `Serving one of the apps` {
    private static func send(
        _ method: String, _ port: Int, _ path: String, headers: [(String, String)] = [], _ body: String = ""
    ) async throws -> (status: Int, body: String) {
        let answer = try await exchange(
            method, "http://127.0.0.1:\(port)\(path)", headers: [("content-type", "application/json")] + headers, body: body)
        return (answer.status, answer.body)
    }

    /// A server of the events and a server of the tasks, on one database.
    private static func withBoth(
        _ body: (_ events: Int, _ tasks: Int, HumonProcess, URL, [String: String]) async throws -> Void
    ) async throws {
        try await HumonProcess.withDatabase { database, directory in
            let events = ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_APPS": "events"]
            let tasks = events.merging(["HUMON_APPS": "tasks"]) { $1 }
            try await HumonProcess.withServer(in: directory, environment: events) { _, first in
                try await HumonProcess.withServer(in: directory, environment: tasks) { server, second in
                    try await body(first, second, server, directory, tasks)
                }
            }
        }
    }

    @Test func `two servers with an app each keep one log and the read models of both apps`() async throws {
        try await Self.withBoth { events, tasks, server, directory, environment in
            let device = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "device")]
            #expect(try await Self.send("POST", events, "/v1/users", headers: device).status == 200)
            let event = #"{"name":"Chess","lat":1,"lon":2,"started_at":"2030-09-14T00:00:00Z"}"#
            let account = #"{"user":{"name":"Ann","email":"ann@example.org","password":"correct horse"}}"#
            for number in 1...3 {
                let created = try await Self.send("POST", events, "/v1/events", headers: device, event)
                #expect(created == (200, #"{"id":\#(number)}"#))
                let body = account.replacingOccurrences(of: "ann@", with: "ann\(number)@")
                let signUp = try await Self.send("POST", tasks, "/v1/users", body)
                let token = try #require(signUp.body.firstMatch(of: /"token":"([^"]*)"/)).1
                let task = try await Self.send(
                    "POST", tasks, "/v1/tasks", headers: [("authorization", "Bearer \(token)")],
                    #"{"task":{"title":"Tea"}}"#)
                #expect(task == (200, #"{"id":\#(number),"title":"Tea","completed":false}"#))
            }
            // The map page belongs to the events.
            #expect(try await Self.send("GET", events, "/").status == 200)
            for (port, path) in [
                (tasks, "/"), (tasks, "/back"), (tasks, "/session"), (tasks, "/v1/events/1"), (events, "/v1/tasks"),
            ] {
                let unknown = try await Self.send("GET", port, "/nowhere")
                #expect(try await Self.send("GET", port, path) == unknown, "\(path)")
            }
            #expect(server.output.contains("\nApps: the to-do app\n"))
            #expect(!server.output.contains("Map, for a browser") && !server.output.contains("humon demo"))
            for arguments in [["projections", "verify", "--all"], ["log", "verify"], ["doctor"]] {
                try await HumonProcess.run(arguments, in: directory, environment: environment).succeeded()
            }
        }
    }
}
