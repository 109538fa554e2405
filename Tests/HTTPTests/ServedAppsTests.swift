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

@Suite struct `The documents of a server without one of the apps` {
    private static let methods = ["get", "put", "post", "delete", "patch"]

    private static func operations(_ document: JSON) -> [(name: String, operation: JSON)] {
        (document["paths"]?.members ?? []).flatMap { path in
            path.value.members.filter { methods.contains($0.name) }.map {
                ("\($0.name.uppercased()) \(path.name) \($0.value["operationId"]?.string ?? "")", $0.value)
            }
        }
    }

    private static func references(_ json: JSON) -> Set<String> {
        var found = Set(json.elements.flatMap(references) + json.members.flatMap { references($0.value) })
        if let target = json["$ref"]?.string { found.insert(target) }
        return found
    }

    @Test(arguments: `A server without one of the apps`.each)
    func `the document has exactly the routes that are served, each under a tag of its own`(apps: Set<ServedApp>) async throws {
        let document = OpenAPIDocument.json(serving: apps)
        try await TestAPI.with(apps: apps) { api in
            let served = api.routes.map { "\($0.method.rawValue) \($0.path) \($0.operation)" }
            #expect(served.sorted() == Self.operations(document).map(\.name).sorted())
            #expect(try await api.send(.get, "/v1/openapi.json").json == document)
            let page = try await api.send(.get, "/docs").body
            #expect(page.matches(of: #/<article id="\w+">/#).count == served.count)
            for route in api.routes { #expect(page.contains(#"<article id="\#(route.operation)">"#), "\(route.operation)") }
        }
        let tags = Set((document["tags"]?.elements ?? []).compactMap { $0["name"] })
        let used = Set(Self.operations(document).flatMap { $0.operation["tags"]?.elements ?? [] })
        #expect(tags == used)
    }

    @Test(arguments: `A server without one of the apps`.each)
    func `the document refers to everything that it has, and to nothing else`(apps: Set<ServedApp>) {
        let document = OpenAPIDocument.json(serving: apps)
        let components = (document["components"]?.members ?? []).filter { $0.name != "securitySchemes" }.flatMap { kind in
            kind.value.members.map { "#/components/\(kind.name)/\($0.name)" }
        }
        #expect(Self.references(document) == Set(components))
        let operations = Self.operations(document)
        let schemes = Set((document["components"]?["securitySchemes"]?.members ?? []).map(\.name))
        let required = operations.flatMap { $0.operation["security"]?.elements ?? [] } + (document["security"]?.elements ?? [])
        #expect(Set(required.flatMap { $0.members.map(\.name) }) == schemes)
        let ids = Set(operations.compactMap { $0.operation["operationId"] })
        let reader = DocumentReader(document: document)
        for (name, operation) in operations {
            for answer in operation["responses"]?.members ?? [] {
                for link in answer.value["links"]?.members ?? [] {
                    #expect(reader.resolved(link.value)["operationId"].map(ids.contains) == true, "\(name): \(link.name)")
                }
            }
        }
        #expect(document["x-only"] == nil)
    }

    @Test func `the document of one app names nothing of the other`() {
        let (events, tasks) = (OpenAPIDocument.json(serving: [.events]).text, OpenAPIDocument.json(serving: [.tasks]).text)
        for word in ["/v1/tasks", "authentication_token", "an account", "correct horse"] {
            #expect(!events.contains(word), "\(word)")
        }
        for word in ["/v1/events", "device_token", "tb-app-secret", "latitude", "attendance"] {
            #expect(!tasks.contains(word), "\(word)")
        }
    }
}

@Suite struct `A merge patch` {
    /// Source: RFC 7396, appendix A.
    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
    func `a merge patch replaces, adds and removes members`(target: String, patch: String, result: String) throws {
        #expect(try JSON(utf8: Array(target.utf8)).patched(with: JSON(utf8: Array(patch.utf8))).text == result)
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
