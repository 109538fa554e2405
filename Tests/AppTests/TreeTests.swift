import EventStore
import Foundation
import NIOHTTP1
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `The Merkle tree over the log` {
    /// A server with a key.
    private struct Site: Sendable {
        let server: HumonProcess
        let database: TestDatabase
        let directory: URL
        let environment: [String: String]
        let url: String

        func humon(_ arguments: String...) async throws -> HumonProcess.Result {
            try await HumonProcess.run(arguments, in: directory, environment: environment)
        }

        /// The verifier written from the standards alone.
        func monitor(_ key: String, _ files: String...) async throws -> HumonProcess.Result {
            try await HumonProcess.run(
                ["python3", Repository.root.appending(path: "checks/monitor").path, url, key] + files, in: directory,
                executable: URL(fileURLWithPath: "/usr/bin/env"))
        }

        func keep(_ text: String, as name: String) throws {
            try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
        }

        /// Waits for a checkpoint of the whole log.
        func checkpoint() async throws -> String {
            let tail = try await database.withClient { try await LogReader(client: $0).tail() }
            var note = ""
            try await eventually("a checkpoint of the log's end", within: .seconds(60), every: .milliseconds(200)) {
                note = try await exchange("GET", url + "/checkpoint").body
                return note.split(separator: "\n").dropFirst().first == "\(tail)"
            }
            return note
        }

        func key() async throws -> String {
            try await humon("log", "checkpoint", "--key").output.trimmingCharacters(in: .newlines)
        }
    }

    private static func makeKey(_ name: String, in directory: URL) async throws {
        let made = try await HumonProcess.run(
            ["genpkey", "-algorithm", "ed25519", "-out", name], in: directory,
            executable: URL(fileURLWithPath: "/usr/bin/openssl"))
        try #require(made.status == 0, "\(made.error)")
    }

    private static func withSite(_ body: (Site) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory, environment in
            try await makeKey("tree.pem", in: directory)
            let environment = environment.merging(["HUMON_TREE_KEY": "tree.pem", "HUMON_TREE_NAME": "example.org/log"]) { $1 }
            try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
                let url = "http://127.0.0.1:\(port)/tlog"
                try await body(
                    Site(server: server, database: database, directory: directory, environment: environment, url: url))
            }
        }
    }

    @Test func `a verifier written elsewhere follows the log, and an erasure changes no entry`() async throws {
        try await Self.withSite { site in
            #expect(try await exchange("GET", site.url + "/checkpoint").status == 404)
            #expect(try await site.humon("log", "checkpoint").status == 2)
            try await site.humon("demo", "--events", "300").succeeded()
            let (note, key) = (try await site.checkpoint(), try await site.key())
            #expect(try await site.humon("log", "checkpoint").output == note)
            try site.keep(note, as: "old.txt")
            let proof = try await site.humon("log", "prove", "5").succeeded()
            try site.keep(proof.output, as: "proof.txt")
            let followed = try await site.monitor(key, "proof.txt")
            #expect(followed.status == 0, "\(followed.error)")

            try await site.humon("users", "erase", "1", "--yes").succeeded()
            #expect(try await site.checkpoint() != note)
            let consistent = try await site.monitor(key, "old.txt", "proof.txt")
            #expect(consistent.status == 0, "\(consistent.error)")
            let verified = try await site.humon("log", "verify", "--against", "old.txt", "--key", key, "--json")
            #expect(verified.status == 0 && verified.output.contains(#"{"check":"checkpoint","state":"ok""#), "\(verified)")
            #expect(verified.output.contains(#"{"check":"tree","state":"ok""#), "\(verified)")

            // Without a database.
            func verify(_ file: String, _ key: String) async throws -> HumonProcess.Result {
                let nowhere = ["DATABASE_URL": "postgres://127.0.0.1:1/none"]
                return try await HumonProcess.run(
                    ["proof", "verify", file, "--key", key], in: site.directory, environment: nowhere)
            }
            let holds = try await verify("proof.txt", key)
            #expect(holds.status == 0 && holds.output.contains(#""position":5,"#), "\(holds.error)")
            try site.keep(proof.output.replacing("\nindex 4\n", with: "\nindex 5\n"), as: "wrong.txt")
            #expect(try await verify("wrong.txt", key).status == 2)
            try site.keep("\u{1B}[2J\u{9B}31m\n\nx\n", as: "hostile.txt")
            let hostile = try await verify("hostile.txt", key)
            #expect(hostile.status == 2 && !(hostile.error + hostile.output).contains("\u{1B}"), "\(hostile.error)")
            #expect(try await verify("proof.txt", "example.org/log").status == 64)
            #expect(try await site.humon("log", "prove", "999999").status == 2)

            // Only tiles that the tree has are served, at one path each.
            for path in [
                "", "/", "/tile", "/tile/0", "/tile/0/999", "/tile/0/000.p/0", "/tile/0/000.json",
                "/tile/entries/x999/x999/x999/x999/x999/999",
                "/key", "/tile/0/%2e%2e/checkpoint",
            ] {
                #expect(try await exchange("GET", site.url + path).status == 404, "\(path)")
            }
            let tile = try await exchange("HEAD", site.url + "/tile/0/000")
            #expect(tile.status == 200)
            #expect(tile.headers["cache-control"] == ["public, max-age=31536000, immutable"])
            // At once, because the limit of 1,200 requests a minute fills again with time.
            let client = try RawConnection(port: try #require(URL(string: site.url)?.port))
            try client.send(String(repeating: "GET /tlog/checkpoint HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 1_300))
            let answers = try await client.receive { $0.contains("HTTP/1.1 429 ") }
            #expect(answers.text.contains("HTTP/1.1 429 "))
        }
    }

    @Test func `a change of a recorded event is found, and neither published nor signed`() async throws {
        try await Self.withSite { site in
            _ = try await site.humon("demo", "--events", "20")
            let (note, key) = (try await site.checkpoint(), try await site.key())
            try site.keep(note, as: "old.txt")
            _ = try await site.database.withClient { client in
                try await client.run([
                    "ALTER TABLE log.recorded_events DISABLE TRIGGER guard_personal",
                    "UPDATE log.recorded_events SET recorded_at = recorded_at + interval '1 microsecond' WHERE position = 3",
                    "ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER guard_personal",
                ])
            }
            let against = try await site.humon("log", "verify", "--against", "old.txt", "--key", key)
            #expect(against.status == 2 && against.output.contains("was changed"), "\(against)")
            let verified = try await site.humon("log", "verify")
            #expect(verified.status == 2 && verified.output.contains("was changed"), "\(verified)")
            #expect(try await site.humon("log", "prove", "3").status == 1)
            let size = min(Int(note.split(separator: "\n")[1]) ?? 0, 255)
            #expect(try await exchange("GET", site.url + "/tile/entries/000.p/\(size)").status == 500)

            // A changed tile gets no further checkpoint, and no stream is parked for it.
            try await site.database.asSuperuser("UPDATE log.tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0))")
            let damaged = try await site.humon("log", "verify")
            #expect(damaged.status == 2 && damaged.output.contains("the stored tile tile/0/000"), "\(damaged)")
            try await site.humon("demo", "--events", "1").succeeded()
            try await eventually("the end of the tree", within: .seconds(60), every: .milliseconds(200)) {
                (site.server.output + site.server.error).contains("the Merkle tree over the log cannot go on")
            }
            #expect(try await exchange("GET", site.url + "/checkpoint").body == note)
            let parked = try await site.database.withClient { try await $0.query("SELECT FROM log.parked_streams") }
            #expect(parked.isEmpty)
        }
    }

    @Test func `an imported log has the same tree, under another key only after the old one is dropped`() async throws {
        try await TestDatabase.withTwo(migrated: false) { database, other in
            try await HumonProcess.withDirectory { directory in
                for name in ["tree.pem", "other.pem"] { try await Self.makeKey(name, in: directory) }
                func environment(_ database: TestDatabase, _ key: String) -> [String: String] {
                    [
                        "DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_TREE_KEY": key,
                        "HUMON_TREE_NAME": "example.org/log",
                    ]
                }
                func root(_ database: TestDatabase, _ key: String, besides before: String = "") async throws -> String {
                    let environment = environment(database, key)
                    return try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
                        let site = Site(
                            server: server, database: database, directory: directory, environment: environment,
                            url: "http://127.0.0.1:\(port)/tlog")
                        let note = try await site.checkpoint()
                        let (size, root) = (note.split(separator: "\n")[1], note.split(separator: "\n")[2])
                        let followed = try await site.monitor(try await site.key())
                        #expect(followed.status == 0, "\(followed.error)")
                        return "\(size) \(root)"
                    }
                }
                func humon(_ database: TestDatabase, _ arguments: String...) async throws -> HumonProcess.Result {
                    let result = try await HumonProcess.run(
                        arguments, in: directory, environment: environment(database, "tree.pem")
                    ).succeeded()
                    return result
                }
                _ = try await humon(database, "demo", "--events", "30")
                let first = try await root(database, "tree.pem")
                _ = try await humon(database, "log", "export", "log.zst")
                _ = try await humon(other, "log", "import", "--yes", "log.zst")
                #expect(try await root(other, "other.pem") == first)

                // The procedure of docs/trust.md.
                try await other.asSuperuser("TRUNCATE log.tiles, log.tree_checkpoints")
                try await other.asSuperuser("DELETE FROM log.subscriptions WHERE name = 'tree'")
                #expect(try await root(other, "tree.pem") == first)
            }
        }
    }

    @Test func `a server refuses a key without a name, and one that is no key, and shows nothing of it`() async throws {
        try await HumonProcess.withDatabase { _, directory, environment in
            try "-----BEGIN PRIVATE KEY-----\ntea-leaves\n".write(
                to: directory.appending(path: "tree.pem"), atomically: true, encoding: .utf8)
            for (settings, sentence) in [
                (["HUMON_TREE_KEY": "tree.pem"], "HUMON_TREE_NAME must be set"),
                (["HUMON_TREE_KEY": "tree.pem", "HUMON_TREE_NAME": "example.org/log"], "HUMON_TREE_KEY"),
                (["HUMON_TREE_KEY": "none.pem", "HUMON_TREE_NAME": "example.org/log"], "No such file"),
                (["HUMON_TREE_KEY": "tree.pem", "HUMON_TREE_NAME": "a+b"], "HUMON_TREE_NAME must be"),
            ] {
                let refused = try await HumonProcess.run(
                    ["serve"], in: directory, environment: environment.merging(settings) { $1 })
                #expect(refused.status == 1 && refused.error.contains(sentence), "\(refused.error)")
                #expect(!refused.error.contains("tea-leaves"), "\(refused.error)")
            }
        }
    }
}
