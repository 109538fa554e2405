import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `humon events` {
    private static let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#

    /// Signs a device up and creates an event.
    private static func createEvent(_ base: String) async throws -> (owner: String, event: Int) {
        let signUp = try await exchange("POST", base + "/users", headers: [("tb-app-secret", HumonProcess.secret)])
        let owner = try #require(signUp.body.firstMatch(of: /"device_token":"([^"]+)"/)).1
        let created = try await exchange(
            "POST", base + "/events", headers: [("tb-device-token", String(owner)), ("content-type", "application/json")],
            body: party)
        return (String(owner), try #require(created.body.firstMatch(of: /"id":(\d+)/).flatMap { Int($0.1) }))
    }

    private static func withServer(
        environment: [String: String] = [:],
        _ body: (_ base: String, _ humon: ([String]) async throws -> HumonProcess.Result) async throws -> Void
    ) async throws {
        try await HumonProcess.withServer(environment: environment) { _, port, database in
            let directory = FileManager.default.temporaryDirectory
            try await body("http://127.0.0.1:\(port)/v1") { arguments in
                try await HumonProcess.run(
                    ["events"] + arguments, in: directory, environment: ["DATABASE_URL": database.url])
            }
        }
    }

    @Test(arguments: ["512", "0"])
    func `a running server hides an event and shows it again, with and without an index`(indexMegabytes: String) async throws {
        try await Self.withServer(environment: ["HUMON_INDEX_MEGABYTES": indexMegabytes]) { base, humon in
            let (owner, id) = try await Self.createEvent(base)
            func get(_ token: String? = nil, at position: String) async throws -> String {
                let headers = [("humon-position", position)] + (token.map { [("tb-device-token", $0)] } ?? [])
                let answer = try await exchange("GET", base + "/events/\(id)", headers: headers)
                return "\(answer.status) \(answer.body)"
            }
            let shown = try await get(at: "2")
            #expect(shown.hasPrefix("200 "))

            let hidden = try await humon(["hide", "\(id)", "--reason", "Sells tickets that do not exist", "--json"])
            #expect(hidden.output == #"{"event":1,"hidden":true,"version":2,"position":3}"# + "\n", "\(hidden.error)")
            #expect(try await get(at: "3") == #"404 {"message":"Not Found"}"#)
            #expect(try await get(owner, at: "3") == #"410 {"message":"Event Hidden"}"#)

            let again = try await humon(["hide", "\(id)", "--reason", "Another reason", "--json"])
            #expect(again.output == #"{"event":1,"hidden":true,"version":2,"position":null}"# + "\n", "\(again.error)")

            let unhidden = try await humon(["unhide", "\(id)"])
            #expect(
                (unhidden.status, unhidden.output) == (0, "event     1\nhidden    false\nversion   3\nposition  4\n"),
                "\(unhidden.error)")
            #expect(try await get(at: "4") == shown)
            let visible = try await humon(["unhide", "\(id)", "--json"])
            #expect(visible.output == #"{"event":1,"hidden":false,"version":3,"position":null}"# + "\n", "\(visible.error)")
        }
    }

    @Test func `the reason is shown with --reveal only, and the recorded event has no actor`() async throws {
        try await HumonProcess.withServer { _, port, database in
            let (_, id) = try await Self.createEvent("http://127.0.0.1:\(port)/v1")
            let directory = FileManager.default.temporaryDirectory
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(arguments, in: directory, environment: ["DATABASE_URL": database.url])
            }
            #expect(try await humon("events", "hide", "\(id)", "--reason", "Bob complained").status == 0)
            let concealed = try await humon("log", "show", "3", "--json")
            #expect(concealed.output.contains(#""type":"EventHidden""#), "\(concealed.error)")
            #expect(concealed.output.contains(#""actor":null"#))
            #expect(!concealed.output.contains("Bob"))
            #expect(try await humon("log", "show", "3", "--reveal").output.contains("Bob complained"))
            let state = try await humon("streams", "state", "event-\(id)", "--reveal", "--json")
            #expect(state.output.contains(#""hidden":true"#) && !state.output.contains("Bob"), "\(state.output)")
            let difference = try await humon("streams", "diff", "event-\(id)", "1", "2", "--json")
            #expect(difference.output == #"{"member":"hidden","old":null,"new":true}"# + "\n")
            #expect(try await humon("log", "verify").status == 0)
            #expect(try await humon("projections", "verify", "--all").status == 0)
        }
    }

    @Test func `an unknown event gets exit code 2, and an unusable command line 64`() async throws {
        try await Self.withServer { _, humon in
            for arguments in [["hide", "9", "--reason", "Spam"], ["unhide", "9"]] {
                let unknown = try await humon(arguments)
                #expect(unknown.status == 2)
                #expect(unknown.error.contains("No event has the id 9."), "\(unknown.error)")
            }
            for (arguments, sentence) in [
                (["hide", "9"], "--reason"), (["hide", "9", "--reason", " "], "The reason is blank."),
                (["hide", "0", "--reason", "Spam"], "The id of an event is a number from 1."),
                (["unhide", "-1"], "Missing expected argument"), (["unhide", "x"], "x"),
            ] {
                let refused = try await humon(arguments)
                #expect(refused.status == 64, "\(arguments)")
                #expect(refused.error.contains(sentence), "\(refused.error)")
            }
        }
    }

    @Test func `the commands use the private PostgreSQL without a server, and refuse a directory without one`() async throws {
        try await HumonProcess.withDirectory { directory in
            let none = try await HumonProcess.run(["events", "unhide", "1"], in: directory)
            #expect(none.status == 1)
            #expect(none.error.contains("has no database yet"), "\(none.error)")
            let demo = try await HumonProcess.run(["demo", "--events", "3"], in: directory)
            #expect(demo.status == 0, "\(demo.error)")
            let hidden = try await HumonProcess.run(["events", "hide", "1", "--reason", "Spam", "--json"], in: directory)
            #expect(hidden.output.contains(#""event":1,"hidden":true"#), "\(hidden.error)")
        }
    }
}
