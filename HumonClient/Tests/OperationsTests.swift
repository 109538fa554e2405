import Foundation
import TestDatabase
import TestServer
import Testing
import Yams

@testable import HumonClient

@Suite struct `The operations of the client` {
    @Test func `the documentation names a function for every operation of v1, and the sources declare it`() throws {
        let document = try #require(try Yams.load(yaml: Repository.text("docs/openapi.yaml")) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let operations = paths.filter { $0.key.hasPrefix("/v1/") }.values.flatMap(\.values)
            .compactMap { ($0 as? [String: Any])?["operationId"] as? String }
        let page = try Repository.text("HumonClient/Sources/HumonClient.docc/Operations.md")
        let rows = page.matches(of: /(?m)^\| (`.*?`) \| (.*) \|$/)
        let documented = rows.flatMap { $0.1.matches(of: /`(\w+)`/).map { String($0.1) } }
        #expect(documented.sorted() == operations.sorted())
        let files =
            ["Users", "Events", "Lists", "Attendances"].map { "Operations/HumonAPI+\($0)" }
            + ["HumonAPI", "Changes/Changes", "Operations/TaskAPI"]
        let sources = try files.map { try Repository.text("HumonClient/Sources/\($0).swift") }.joined()
        for function in rows.flatMap({ $0.2.matches(of: /API\/(\w+)\(/).map { String($0.1) } }) {
            #expect(sources.contains("public func \(function)("), "\(function)")
        }
    }

    @Test func `an event is created, read, changed, attended, listed and cancelled`() async throws {
        try await TestClient.with { client in
            let humon = client.humon
            let owner = try await humon.me()
            let id = try await humon.create(TestClient.draft("Tea \u{1F375}"))
            let event = try await humon.event(id)
            #expect(
                event.value
                    == Event(
                        id: id, name: "Tea \u{1F375}", coordinate: TestClient.here,
                        startedAt: Date(timeIntervalSince1970: 1_915_000_000.125), owner: owner))
            try await humon.change(id, EventPatch(address: .set("Park"), endedAt: .set(event.startedAt + 60)), if: event.version)
            await #expect { try await humon.cancel(id, if: event.version) } throws: { error in
                if case .versionChanged? = error as? HumonError { true } else { false }
            }
            try await humon.attend(id)
            #expect(try await humon.attendance(of: id) == AttendanceSummary(count: 1, attending: true))
            #expect(try await humon.attendees(of: id).elements == [owner])
            #expect(try await humon.myAttendances().elements.map(\.address) == ["Park"])
            let clusters = try await humon.clusters(in: .world, zoom: 2)
            #expect(clusters.elements.map(\.count) == [1] && clusters.elements[0].coordinate == TestClient.here)
            try await humon.cancel(id)
            #expect(try await humon.events(in: TestClient.near).elements.isEmpty)
            #expect(try await humon.openAPIDocument().starts(with: Data(#"{"openapi":"3.1.0""#.utf8)))
        }
    }

    @Test(arguments: [TestClient.near, .box(.world)])
    func `the pages of a list have every event once, and a window selects`(region: Region) async throws {
        try await TestClient.with { client in
            var ids: [Event.ID] = []
            for _ in 0..<3 { ids.append(try await client.humon.create(TestClient.draft())) }
            var (found, cursor) = ([Event.ID](), Cursor?.none)
            repeat {
                let page = try await client.humon.events(in: region, limit: 2, after: cursor)
                found += page.elements.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(found == ids)
            let past = TimeWindow(to: Date(timeIntervalSince1970: 1_914_000_000))
            #expect(try await client.humon.events(in: region, during: past).elements.isEmpty)
            #expect(try await client.humon.myEvents(limit: 2).elements.map(\.id) == [ids[2], ids[1]])
        }
    }

    @Test func `the errors of a form come with their fields`() async throws {
        try await TestClient.with { client in
            let draft = EventDraft(
                name: " ", coordinate: Coordinate(latitude: 91, longitude: 181), startedAt: .init(timeIntervalSince1970: 0))
            await #expect { try await client.humon.create(draft) } throws: { error in
                guard case .validationFailed(let problem)? = error as? HumonError else { return false }
                return problem.errors.map(\.pointer) == ["/lat", "/lon", "/name"]
                    && problem.error(at: "/name")?.code == "blank"
            }
        }
    }

    @Test func `an account signs up and in, has its tasks, and signs out`() async throws {
        try await TestClient.with { client in
            let server = try #require(URL(string: "http://127.0.0.1:\(client.relay.port)"))
            let tokens = MemoryTokenStore()
            let tasks = TaskAPI(
                HumonAPI.Configuration(server: server, tokens: tokens, timeout: TestClient.patience))
            await #expect(throws: HumonError.notSignedUp) { try await tasks.tasks() }
            let account = try await tasks.signUp(name: "Ann", email: "ann@example.org", password: "correct horse")
            let milk = try await tasks.create("Buy milk")
            #expect(
                try await tasks.change(milk.id, isCompleted: true) == TodoTask(id: milk.id, title: "Buy milk", isCompleted: true))
            #expect(try await tasks.tasks().map(\.isCompleted) == [true])
            client.relay.next(.loseResponse)
            #expect(try await tasks.change(milk.id, title: "Buy tea").title == "Buy tea")
            client.relay.next(.loseResponse)
            try await tasks.delete(milk.id)
            #expect(try await tasks.tasks().isEmpty)
            await #expect(throws: HumonError.self) { try await tasks.changePassword(from: "wrong horse", to: "battery staple") }
            try await tasks.changePassword(from: "correct horse", to: "battery staple")
            #expect(try await tasks.tasks().isEmpty)
            try await tasks.changePassword(from: "battery staple", to: "correct horse")
            try await tasks.signOut()
            #expect(tokens.load() == nil)
            await #expect { try await tasks.signIn(email: "ann@example.org", password: "wrong horse") } throws: { error in
                if case .wrongCredentials? = error as? HumonError { true } else { false }
            }
            client.relay.next(.loseResponse)
            let requests = try await client.requests {
                await #expect(throws: HumonError.self) {
                    try await tasks.signIn(email: "ann@example.org", password: "correct horse")
                }
            }
            #expect(requests.count == 1)
            #expect(try await tasks.signIn(email: "ann@example.org", password: "correct horse") == account)
        }
    }
}
