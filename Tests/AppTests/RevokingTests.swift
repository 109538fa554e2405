import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `humon users revoke` {
    private static func signUp(_ base: String, _ token: String, secret: String = HumonProcess.secret) async throws -> String {
        let answer = try await exchange(
            "POST", base + "/users", headers: [("tb-app-secret", secret), ("tb-device-token", token)])
        return "\(answer.status) \(answer.body)"
    }

    private static func caller(_ base: String, _ token: String) async throws -> String {
        let answer = try await exchange("GET", base + "/users/me", headers: [("tb-device-token", token)])
        return "\(answer.status) \(answer.body)"
    }

    @Test func `a running server refuses the token from then on, at sign-up too`() async throws {
        // While the app's secret changes, both sign up.
        try await HumonProcess.withServer(environment: ["HUMON_PREVIOUS_APP_SECRET": "old-secret"]) { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            #expect(try await Self.signUp(base, "stolen").hasPrefix("200 "))
            #expect(try await Self.signUp(base, "other", secret: "old-secret").hasPrefix("200 "))
            let directory = FileManager.default.temporaryDirectory
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(
                    ["users", "revoke"] + arguments, in: directory, environment: ["DATABASE_URL": database.url])
            }
            let refused = try await humon("1")
            #expect((refused.status, refused.output) == (2, ""))
            #expect(
                refused.error.hasSuffix("Nothing was changed. To go on without a terminal, give --yes.\n"),
                "\(refused.error)")
            let trial = try await humon("1", "--dry-run", "--json")
            #expect(
                (trial.status, trial.output) == (0, #"{"user":1,"token":"would be revoked","position":null}"# + "\n"),
                "\(trial.error)")
            #expect(try await Self.caller(base, "stolen") == #"200 {"id":1}"#)

            let revoked = try await humon("1", "--yes", "--json")
            #expect(
                (revoked.status, revoked.output) == (0, #"{"user":1,"token":"revoked","position":3}"# + "\n"),
                "\(revoked.error)")
            #expect(try await Self.caller(base, "stolen") == "401 ")
            #expect(try await Self.signUp(base, "stolen") == "401 ")
            #expect(try await Self.caller(base, "other") == #"200 {"id":2}"#)

            let again = try await humon("1", "--json")
            #expect(again.output == #"{"user":1,"token":"had no token","position":null}"# + "\n", "\(again.error)")
            let unknown = try await humon("7", "--yes")
            #expect((unknown.status, unknown.error) == (2, "No user has the id 7.\n"))
            #expect(try await humon("0").status == 64)
        }
    }
}

@Suite struct `humon accounts revoke` {
    @Test func `a running server refuses all tokens of the account from then on`() async throws {
        try await HumonProcess.withServer { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            func token(_ path: String, _ email: String) async throws -> String {
                let answer = try await exchange(
                    "POST", base + path, headers: [("content-type", "application/x-www-form-urlencoded")],
                    body: "user[email]=\(email)&user[password]=correct horse")
                return try String(#require(answer.body.firstMatch(of: /"token":"([^"]+)"/)).1)
            }
            func tasks(_ token: String) async throws -> Int {
                try await exchange("GET", base + "/tasks", headers: [("authorization", "Bearer \(token)")]).status
            }
            let stolen = [try await token("/users", "ann@example.org"), try await token("/users/sign_in", "ann@example.org")]
            let other = try await token("/users", "bob@example.org")
            func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(
                    ["accounts", "revoke"] + arguments, in: FileManager.default.temporaryDirectory,
                    environment: ["DATABASE_URL": database.url])
            }
            let refused = try await humon("1")
            #expect((refused.status, refused.output) == (2, ""))
            let trial = try await humon("Ann@example.org", "--dry-run", "--json")
            #expect(
                trial.output == #"{"account":1,"tokens":"would be revoked","count":2,"position":null}"# + "\n", "\(trial.error)")
            for one in stolen { #expect(try await tasks(one) == 200) }
            let revoked = try await humon("1", "--yes", "--json")
            #expect(
                revoked.output == #"{"account":1,"tokens":"revoked","count":2,"position":5}"# + "\n", "\(revoked.error)")
            for one in stolen { #expect(try await tasks(one) == 401) }
            #expect(try await tasks(other) == 200)
            let again = try await humon("1", "--json")
            #expect(
                again.output == #"{"account":1,"tokens":"had no token","count":0,"position":null}"# + "\n", "\(again.error)")
            let unknown = try await humon("eve@example.org", "--yes")
            #expect((unknown.status, unknown.error) == (2, "No account has this id or address.\n"))
        }
    }
}
