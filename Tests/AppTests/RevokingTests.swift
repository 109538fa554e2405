import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `Revoking tokens` {
    @Test func `a running server refuses the tokens of the user and of the account from then on`() async throws {
        // While the app's secret changes, both sign up.
        try await HumonProcess.withServer(environment: ["HUMON_PREVIOUS_APP_SECRET": "old-secret"]) { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(arguments, on: database)
            }
            func signUp(_ token: String, secret: String = HumonProcess.secret) async throws -> Int {
                let headers = [("tb-app-secret", secret), ("tb-device-token", token)]
                return try await exchange("POST", base + "/users", headers: headers).status
            }
            func caller(_ token: String) async throws -> String {
                let answer = try await exchange("GET", base + "/users/me", headers: [("tb-device-token", token)])
                return "\(answer.status) \(answer.body)"
            }
            func token(_ path: String, _ email: String) async throws -> String {
                let answer = try await exchange(
                    "POST", base + path, headers: [("content-type", "application/x-www-form-urlencoded")],
                    body: "user[email]=\(email)&user[password]=correct horse")
                return try String(#require(answer.body.firstMatch(of: /"token":"([^"]+)"/)).1)
            }
            func back(_ pass: String) async throws -> Int {
                try await exchange(
                    "POST", base + "/users/return",
                    headers: [("tb-app-secret", HumonProcess.secret), ("content-type", "application/json")],
                    body: #"{"pass":"\#(pass)","device_token":"back"}"#
                ).status
            }
            func tasks(_ token: String) async throws -> Int {
                try await exchange("GET", base + "/tasks", headers: [("authorization", "Bearer \(token)")]).status
            }
            #expect(try await signUp("stolen") == 200)
            #expect(try await signUp("other", secret: "old-secret") == 200)
            let issued = try await exchange(
                "POST", base + "/users/me/passes",
                headers: [("tb-device-token", "stolen"), ("content-type", "application/json")],
                body: #"{"kind":"recovery"}"#)
            let pass = try String(#require(issued.body.firstMatch(of: /"pass":"([^"]+)"/)).1)
            let stolen = [try await token("/users", "ann@example.org"), try await token("/users/sign_in", "ann@example.org")]
            let other = try await token("/users", "bob@example.org")

            for kind in ["users", "accounts"] {
                let refused = try await humon(kind, "revoke", "1")
                #expect((refused.status, refused.output) == (2, ""))
                let sentence = "Nothing was changed. To go on without a terminal, give --yes.\n"
                #expect(refused.error.hasSuffix(sentence), "\(refused.error)")
            }
            let trials = [
                try await humon("users", "revoke", "1", "--dry-run", "--json"),
                try await humon("accounts", "revoke", "Ann@example.org", "--dry-run", "--json"),
            ]
            #expect(trials.map(\.status) == [0, 0])
            #expect(
                trials.map(\.output) == [
                    #"{"user":1,"token":"would be revoked","position":null}"# + "\n",
                    #"{"account":1,"tokens":"would be revoked","count":2,"position":null}"# + "\n",
                ])
            #expect(try await caller("stolen") == #"200 {"id":1}"#)
            for one in stolen { #expect(try await tasks(one) == 200) }

            let revoked = try await humon("users", "revoke", "1", "--yes", "--json")
            #expect(revoked.output.hasPrefix(#"{"user":1,"token":"revoked","position":"#), "\(revoked.error)")
            #expect(try await caller("stolen") == "401 ")
            #expect(try await signUp("stolen") == 401)
            #expect(try await back(pass) == 404)
            let passes = try await humon("streams", "show", "pass-1", "--json")
            #expect(passes.output.contains(#""type":"PassEnded""#) && passes.output.contains(#""digest":"(hidden)""#))
            #expect(try await caller("other") == #"200 {"id":2}"#)
            let ended = try await humon("accounts", "revoke", "1", "--yes", "--json")
            #expect(ended.output.hasPrefix(#"{"account":1,"tokens":"revoked","count":2,"position":"#), "\(ended.error)")
            for one in stolen { #expect(try await tasks(one) == 401) }
            #expect(try await tasks(other) == 200)

            let again = [try await humon("users", "revoke", "1", "--json"), try await humon("accounts", "revoke", "1", "--json")]
            #expect(
                again.map(\.output) == [
                    #"{"user":1,"token":"had no token","position":null}"# + "\n",
                    #"{"account":1,"tokens":"had no token","count":0,"position":null}"# + "\n",
                ])
            let unknown = [
                try await humon("users", "revoke", "7", "--yes"),
                try await humon("accounts", "revoke", "eve@example.org", "--yes"),
            ]
            #expect(unknown.map(\.status) == [2, 2])
            #expect(unknown.map(\.error) == ["No user has the id 7.\n", "No account has this id or address.\n"])
            #expect(try await humon("users", "revoke", "0").status == 64)
        }
    }
}
