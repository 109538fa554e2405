import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `The token of the operators' address` {
    private static let token = "token-of-the-operators"

    private static func memoryLine(_ directory: URL, _ environment: [String: String]) async throws -> JSON? {
        let result = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: environment)
        #expect(!(result.output + result.error).contains(token))
        let lines = try result.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
        return lines.first { $0["check"] == "index" }
    }

    @Test func `Prometheus and the doctor get in with the token, and a caller without it gets 401`() async throws {
        try await HumonProcess.withDatabase { database, directory in
            let file = directory.appending(path: "token")
            try "\(Self.token)\n".write(to: file, atomically: true, encoding: .utf8)
            var environment = [
                "DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_ADMIN_TOKEN_FILE": file.path,
            ]
            try await HumonProcess.withServer(in: directory, environment: environment) { server, _ in
                let port = try #require(server.adminPort)
                let address = "http://127.0.0.1:\(port)"
                #expect(try await exchange("GET", address + "/metrics").status == 401)
                let bearer = [("authorization", "Bearer \(Self.token)")]
                #expect(try await exchange("GET", address + "/metrics", headers: bearer).status == 200)
                #expect(try await exchange("GET", address + "/health/ready").status == 200)

                environment["HUMON_ADMIN_PORT"] = "\(port)"
                let compared = try await Self.memoryLine(directory, environment)
                #expect(compared?["result"] == "holds all 0 events as the read model has them at position 0")
                environment["HUMON_ADMIN_TOKEN_FILE"] = nil
                let refused = try await Self.memoryLine(directory, environment)
                #expect(refused?["state"] == "warn")
                #expect(refused?["result"] == "was not compared: the server requires another token")
            }
        }
    }
}
