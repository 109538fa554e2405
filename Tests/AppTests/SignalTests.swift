import Foundation
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `Signals to a running server` {
    private static func write(_ lines: String..., in directory: URL) throws {
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: directory.appending(path: ".env"), options: .atomic)
    }

    @Test func `SIGHUP reloads secrets, limits and the log level, names the other changes, and keeps what it cannot read`()
        async throws
    {
        try await HumonProcess.withDirectory { directory in
            try Self.write("TB_APP_SECRET=the-first-secret", in: directory)
            try await HumonProcess.withServer(in: directory) { server, port in
                func signUp(_ secret: String) async throws -> Int {
                    let url = "http://127.0.0.1:\(port)/v1/users"
                    return try await exchange("POST", url, headers: [("tb-app-secret", secret)]).status
                }
                #expect(try await signUp("the-first-secret") == 200)
                #expect(try await signUp("the-second-secret") != 200)
                #expect(!server.error.contains(" info request "))

                try Self.write(
                    "TB_APP_SECRET=the-second-secret", "HUMON_LOG_LEVEL=info", "HUMON_SIGN_UPS_PER_MINUTE=1",
                    "HUMON_CONNECTIONS=100", in: directory)
                server.send(SIGHUP)
                try await eventually("the reload") { server.error.contains("the settings were reloaded") }
                #expect(
                    server.error.contains(#"changed="[\"TB_APP_SECRET\",\"HUMON_SIGN_UPS_PER_MINUTE\",\"HUMON_LOG_LEVEL\"]""#))
                try await eventually("the warning") {
                    server.error.contains(#"these settings apply from the next start settings="[\"HUMON_CONNECTIONS\"]""#)
                }
                #expect(try await signUp("the-first-secret") != 200)
                #expect(try await signUp("the-second-secret") == 200)
                #expect(try await signUp("the-second-secret") == 429)
                try await eventually("a line for a request") { server.error.contains(" info request ") }
                #expect(!server.error.contains("-secret"))

                try Self.write("TB_APP_SECRET=the-third-secret", "HUMON_LOG_LEVEL=loud", in: directory)
                server.send(SIGHUP)
                try await eventually("the refusal") { server.error.contains("the settings were not reloaded") }
                #expect(try await signUp("the-third-secret") != 200)
                #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health").status == 200)
            }
        }
    }

    @Test func `the page of deployments names the settings that apply at once`() throws {
        let page = try Repository.text("docs/deploying.md")
        let table = try #require(page.firstMatch(of: /SIGHUP reads the settings again(?s:.*?)When PostgreSQL is away/)).0
        let named = Set(table.matches(of: /`([A-Z_]+)`/).map { String($0.1) })
        #expect(named == SettingsReload.names.filter { !$0.hasSuffix("_FILE") })
    }

    @Test func `SIGUSR1 and SIGUSR2 do not end a server`() async throws {
        try await HumonProcess.withServer { server, port, _ in
            server.send(SIGUSR1)
            server.send(SIGUSR2)
            let health = try await exchange("GET", "http://127.0.0.1:\(port)/health")
            #expect(health.status == 200)
            let status = try await server.stop()
            #expect(status == 0)
        }
    }
}
