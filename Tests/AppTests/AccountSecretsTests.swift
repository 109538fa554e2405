import Encoding
import Foundation
import NIOHTTP1
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.database, .directory) struct `The secrets of accounts and devices` {
    private static let email = "ann.of.nowhere@example.org"
    private static let password = "correct.horse.battery"
    private static let wrong = "wrong.horse.battery"
    private static let form = [("content-type", "application/x-www-form-urlencoded")]

    private static func user(_ password: String, _ email: String = email) -> String {
        "user[name]=Ann.Nobody&user[email]=\(email)&user[password]=\(password)"
    }

    private static func token(_ answer: (status: Int, headers: some Any, body: String)) throws -> String {
        guard answer.status == 200, case .string(let token) = try JSON(utf8: answer.body.utf8)["token"] else {
            throw NoToken(body: answer.body)
        }
        return token
    }

    private struct NoToken: Error { var body: String }

    /// Sends each kind of request that carries a secret, accepted and refused, and returns the tokens.
    private static func run(_ base: String) async throws -> [String] {
        let first = try token(await exchange("POST", base + "/v1/users.json", headers: form, body: user(password)))
        for (path, body, status) in [
            ("/v1/users", user(password), 422), ("/v1/users", user("short"), 422), ("/v1/users/sign_in", user(wrong), 401),
            ("/v1/users/sign_in", user(password, "x" + email), 401), ("/v1/users/sign_in", user(password) + "&%", 400),
            ("/v1/users/sign_in", user(password) + "&user=\(password)", 400),
        ] {
            #expect(try await exchange("POST", base + path, headers: form, body: body).status == status, "\(path) \(status)")
        }
        let json = [("content-type", "application/json")]
        let broken = try await exchange("POST", base + "/v1/users/sign_in", headers: json, body: "{\"\(password)")
        #expect(broken.status == 400)
        let second = try token(await exchange("POST", base + "/v1/users/sign_in.json", headers: form, body: user(password)))
        let own = "authentication_token=\(first)"
        let created = try await exchange(
            "POST", base + "/v1/tasks.json?\(own)", headers: form, body: "\(own)&task[title]=Meet.the.dentist")
        #expect(created.status == 200)
        #expect(try await exchange("GET", base + "/v1/tasks.json?\(own)").status == 200)
        let bearer = [("authorization", "Bearer \(second)")]
        #expect(try await exchange("DELETE", base + "/v1/users/sign_out", headers: bearer).status == 200)
        #expect(try await exchange("GET", base + "/v1/tasks", headers: bearer).status == 401)
        return try await [first, second] + pass(base)
    }

    /// Comes back with a pass, also with a wrong one and on the map page, and returns the secrets.
    private static func pass(_ base: String) async throws -> [String] {
        let (old, new, wrong) = ("the.first.token", "the.second.token", "WRNGPASS00")
        let json = ("content-type", "application/json")
        let app = [("tb-app-secret", HumonProcess.secret), json]
        #expect(try await exchange("POST", base + "/v1/users", headers: app + [("tb-device-token", old)]).status == 200)
        let issued = try await exchange(
            "POST", base + "/v1/users/me/passes", headers: [("tb-device-token", old), json], body: #"{"kind":"transfer"}"#)
        guard case .string(let code) = try JSON(utf8: issued.body.utf8)["pass"] else { throw NoToken(body: issued.body) }
        for (pass, status) in [(wrong, 404), (code, 200)] {
            let body = #"{"pass":"\#(pass)","device_token":"\#(new)"}"#
            #expect(try await exchange("POST", base + "/v1/users/return", headers: app, body: body).status == status)
        }
        let kept = try await exchange(
            "POST", base + "/v1/users/me/passes", headers: [("tb-device-token", new), json], body: #"{"kind":"recovery"}"#)
        guard case .string(let link) = try JSON(utf8: kept.body.utf8)["pass"] else { throw NoToken(body: kept.body) }
        let address = try await exchange(
            "POST", base + "/v1/users/me/passes", headers: [("tb-device-token", new), json], body: #"{"kind":"calendar"}"#)
        guard case .string(let secret) = try JSON(utf8: address.body.utf8)["pass"] else { throw NoToken(body: address.body) }
        for (path, status) in [(secret, 200), (wrong, 404)] {
            #expect(try await exchange("GET", base + "/v1/calendars/\(path).ics").status == status)
        }
        let (page, nonce) = ([("sec-fetch-site", "same-origin"), json], String(repeating: "5eed", count: 8))
        let fields = #""pass":"\#(link)","nonce":"\#(nonce)""#
        let asked = try await exchange("POST", base + "/session/return", headers: page, body: "{\(fields)}")
        guard case .number(let user) = try JSON(utf8: asked.body.utf8)["id"] else { throw NoToken(body: asked.body) }
        let back = try await exchange("POST", base + "/session/return", headers: page, body: "{\(fields),\"user\":\(user)}")
        let cookie = try #require(back.headers["set-cookie"].first?.firstMatch(of: /humon=([0-9a-f-]{36})/))
        return [old, new, wrong, code, link, nonce, String(cookie.1), secret]
    }

    @Test func `no log line, metric, error or command shows an address, a password, a token, a pass or a title`() async throws {
        let environment = [
            "DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_LOG_LEVEL": "trace",
        ]
        try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
            let base = "http://127.0.0.1:\(port)"
            let tokens = try await Self.run(base)
            let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
            var outputs = ["metrics": try await exchange("GET", operators + "/metrics").body]
            for command in [
                ["log", "search"], ["log", "search", "--json"], ["streams", "show", "account-1"],
                ["streams", "show", "task-1"],
                ["streams", "state", "account-1"], ["streams", "show", "pass-1"], ["log", "verify"],
                ["projections", "verify", "--all"],
            ] {
                let result = try await HumonProcess.run(command, in: directory, environment: environment).succeeded()
                outputs[command.joined(separator: " ")] = result.output + result.error
            }
            // Errors of the database, in the server's log.
            for drop: SQL in ["DROP SCHEMA accounts_v1 CASCADE", "DROP SCHEMA passes_v1 CASCADE"] {
                _ = try await database.withClient { try await $0.query(drop) }
            }
            for path in ["/v1/users/sign_in", "/v1/users"] {
                let answer = try await exchange(
                    "POST", base + path, headers: Self.form, body: Self.user(Self.password), attempts: 1)
                #expect(answer.status >= 500, "\(path) \(answer.status)")
                outputs[path] = answer.body
            }
            let failed = try await exchange("GET", base + "/v1/tasks?authentication_token=\(tokens[0])", attempts: 1)
            #expect(failed.status >= 500)
            let calendar = try await exchange("GET", base + "/v1/calendars/\(tokens[tokens.count - 1]).ics", attempts: 1)
            #expect(calendar.status >= 500)
            outputs["/v1/calendars"] = calendar.body
            try await eventually("the log of the last request") {
                server.error.matches(of: /a request (failed|could not be served now)/).count >= 4
            }
            outputs["log"] = server.output + server.error
            #expect(outputs["log"]?.contains("/v1/users/sign_in") == true)
            for route in ["/v1/calendars/{secret}.ics", "/v1/users/return", "/session/return"] {
                for name in ["metrics", "log"] { #expect(outputs[name]?.contains(route) == true, "\(name) has no \(route)") }
            }
            #expect(outputs["log search"]?.contains("AccountCreated") == true)
            let secrets =
                ["ann.of.nowhere", "Ann.Nobody", Self.password, Self.wrong, "$scrypt", "Meet.the.dentist"] + tokens
            for (name, output) in outputs {
                for secret in secrets { #expect(!output.contains(secret), "\(name) shows \(secret)") }
            }
        }
    }
}
