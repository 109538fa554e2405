import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `Secrets in files` {
    private static func file(_ text: String, in directory: URL, _ name: String) throws -> String {
        let file = directory.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    @Test(.emptyDatabase, .directory)
    func `secrets from files work like secrets from the environment, and the banner shows only their paths`() async throws {
        let token = "token-of-the-operators"
        let environment = [
            "DATABASE_URL_FILE": try Self.file(database.url + "\n", in: directory, "url"),
            "TB_APP_SECRET_FILE": try Self.file("hush-hush\n", in: directory, "secret"),
            "HUMON_ADMIN_TOKEN_FILE": try Self.file("\(token)\n", in: directory, "token"),
        ]
        func indexLine(_ environment: [String: String]) async throws -> JSON? {
            let result = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: environment)
            #expect(!(result.output + result.error).contains(token))
            let lines = try result.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
            return lines.first { $0["check"] == "index" }
        }
        try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
            #expect(server.output.contains(#"-H "tb-app-secret: $(cat '\#(directory.path)/secret')""#))
            #expect(!server.output.contains("hush-hush"))
            // Prometheus and the doctor get in with the token, and a caller without it gets 401.
            let adminPort = try #require(server.adminPort)
            let address = "http://127.0.0.1:\(adminPort)"
            #expect(try await exchange("GET", address + "/metrics").status == 401)
            let bearer = [("authorization", "Bearer \(token)")]
            #expect(try await exchange("GET", address + "/metrics", headers: bearer).status == 200)
            #expect(try await exchange("GET", address + "/health/ready").status == 200)
            var reached = environment.merging(["HUMON_ADMIN_PORT": "\(adminPort)"]) { $1 }
            let compared = try await indexLine(reached)
            #expect(compared?["result"] == "holds all 0 events as the read model has them at position 0")
            reached["HUMON_ADMIN_TOKEN_FILE"] = nil
            let refused = try await indexLine(reached)
            #expect(refused?["state"] == "warn")
            #expect(refused?["result"] == "was not compared: the server requires another token")

            let answer = try await exchange(
                "POST", "http://127.0.0.1:\(port)/v1/users", headers: [("tb-app-secret", "hush-hush")])
            #expect(answer.status == 200)
        }
    }

    @Test(.directory)
    func `an unreadable or empty file, and a secret that is set twice, stop the start with a message`() async throws {
        let cases = [
            (["TB_APP_SECRET_FILE": "/nowhere"], "The file that TB_APP_SECRET_FILE names cannot be read."),
            (
                ["DATABASE_URL_FILE": try Self.file("\n", in: directory, "empty")],
                "The file that DATABASE_URL_FILE names is empty."
            ),
            (
                ["TB_APP_SECRET": "hush-hush", "TB_APP_SECRET_FILE": try Self.file("other", in: directory, "other")],
                "Both TB_APP_SECRET and TB_APP_SECRET_FILE are set: set one of them."
            ),
        ]
        for (environment, sentence) in cases {
            let result = try await HumonProcess.run(["serve"], in: directory, environment: environment)
            #expect(result.status == 78)
            #expect(result.error.contains(sentence), "\(result.error)")
            #expect(!result.error.contains("hush-hush"))
        }
    }
}
