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

    @Test func `a running server hides an event and shows it again`() async throws {
        try await HumonProcess.withServer { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            func humon(_ arguments: [String]) async throws -> HumonProcess.Result {
                try await HumonProcess.run(["events"] + arguments, on: database)
            }
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
            #expect(try await get("nobody", at: "3") == #"404 {"message":"Not Found"}"#)
            #expect(try await get(owner, at: "3") == #"410 {"message":"Event Hidden"}"#)
            let own = [("tb-device-token", owner), ("humon-position", "3")]
            #expect(try await exchange("GET", base + "/users/me/events", headers: own).body == "[]")

            let again = try await humon(["hide", "\(id)", "--reason", "Another reason", "--json"])
            #expect(again.output == #"{"event":1,"hidden":true,"version":2,"position":null}"# + "\n", "\(again.error)")

            let concealed = try await HumonProcess.run(["log", "show", "3", "--json"], on: database)
            #expect(concealed.output.contains(#""actor":null"#) && !concealed.output.contains("tickets"), "\(concealed.error)")

            let unhidden = try await humon(["unhide", "\(id)"])
            #expect(
                (unhidden.status, unhidden.output) == (0, "event     1\nhidden    false\nversion   3\nposition  4\n"),
                "\(unhidden.error)")
            #expect(try await get(at: "4") == shown)
            let visible = try await humon(["unhide", "\(id)", "--json"])
            #expect(visible.output == #"{"event":1,"hidden":false,"version":3,"position":null}"# + "\n", "\(visible.error)")

            let unknown = try await humon(["hide", "9", "--reason", "Spam"])
            #expect((unknown.status, unknown.error.contains("No event has the id 9.")) == (2, true), "\(unknown.error)")
            let blank = try await humon(["hide", "1", "--reason", " "])
            #expect((blank.status, blank.error.contains("The reason is blank.")) == (64, true), "\(blank.error)")
            let long = try await humon(["hide", "1", "--reason", String(repeating: "Ann ", count: 251)])
            #expect((long.status, long.error.contains("Ann")) == (64, false), "\(long.error)")
            #expect(try await humon(["unhide", "0"]).status == 64)
        }
    }
}
