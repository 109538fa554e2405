import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

/// `humon` on a database with a small demo, with a login that has only the reading role.
private struct Tool: Sendable {
    let directory: URL
    let environment: [String: String]
    let database: TestDatabase

    static func with(_ body: (Tool) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory in
            try await HumonProcess.run(["demo", "--events", "40", "--seed", "3"], on: database).succeeded()
            let login = "looks_\(UUID().uuidString.prefix(8).lowercased())"
            try await database.withClient { client in
                try await client.query("CREATE ROLE \(identifier: login) LOGIN IN ROLE log_reader")
                try await client.query(
                    """
                    INSERT INTO log.recorded_events
                    SELECT log.tail() + 1, gen_random_uuid(), stream, 2, 'EventUpdated', 1, recorded_at + interval '1 minute',
                        '{"started_at":"2030-01-01T00:00:00.000Z","ended_at":null}',
                        '{"request_id":"tea-time","actor":1,"trace_id":"0af7651916cd43dd8448eb211c80319c"}',
                        '{"name":"Tea\\u001b[2J","address":"Secret Street 1","lat":1.5,"lon":2,
                            "category":"music","time_zone":"Asia/Tokyo","description":"Bring tea","link":"https://example.org/"}'
                    FROM log.recorded_events WHERE stream = 'event-12'
                    """
                )
            }
            let url = database.url.replacing("user=humon", with: "user=\(login)")
            let tool = Tool(directory: directory, environment: ["DATABASE_URL": url], database: database)
            let result: Result<Void, any Error>
            do { result = .success(try await body(tool)) } catch { result = .failure(error) }
            try await database.withClient { client in _ = try await client.query("DROP ROLE \(identifier: login)") }
            try result.get()
        }
    }

    func run(_ arguments: String...) async throws -> HumonProcess.Result {
        try await HumonProcess.run(arguments, in: directory, environment: environment)
    }

    /// The objects that `--json` prints.
    func objects(_ arguments: String..., status: Int32 = 0) async throws -> [JSON] {
        let result = try await HumonProcess.run(arguments + ["--json"], in: directory, environment: environment)
        #expect(result.status == status, "\(arguments): \(result.error)")
        #expect(!result.output.unicodeScalars.contains("\u{1B}"))
        return try result.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
    }
}

@Suite struct `The commands that read the log` {
    @Test func `the commands show, search, count and trace, and personal data appear only with --reveal`() async throws {
        try await Tool.with { tool in
            let unknown = try await tool.run("log", "tail", "--category", "evnet")
            #expect(unknown.status == 64)
            #expect(unknown.error.contains("There is no category evnet. Known: user, pass, event, attendance, account, task."))

            let hidden = try await tool.objects("streams", "show", "event-12")
            #expect(hidden.map { $0["version"] } == [JSON(1), JSON(2)])
            for name in ["address", "lat", "name", "category", "time_zone", "description", "link"] {
                #expect(hidden[1]["data"]?[name] == "(hidden)", "\(name)")
            }
            #expect(hidden[1]["data"]?["started_at"] == "2030-01-01T00:00:00.000Z")
            #expect(hidden[1]["request_id"] == "tea-time")
            let shown = try await tool.run("streams", "show", "event-12", "--reveal")
            #expect(shown.output.contains("data.address      Secret Street 1\n"))
            for text in ["music", "Asia/Tokyo", "Bring tea", "https://example.org/"] {
                #expect(shown.output.contains(" \(text)\n"), "\(text)")
            }
            #expect(shown.output.contains(#"data.name         Tea\u001b[2J"# + "\n"))
            #expect(!shown.output.contains("\u{1B}"))

            let now = try await tool.objects("streams", "state", "event-12", "--reveal")
            #expect(now[0]["data"]?["address"] == "Secret Street 1")
            #expect(now[0]["data"]?["owner"] != nil)
            let before = try await tool.objects("streams", "state", "event-12", "--version", "1")
            #expect(before[0]["version"] == JSON(1))
            let moment = try #require(hidden[0]["recorded_at"]?.storedString)
            #expect(try await tool.objects("streams", "state", "event-12", "--at", moment) == before)
            let differences = try await tool.objects("streams", "diff", "event-12", "1", "2")
            #expect(
                differences.first { $0["member"] == "address" }?.text
                    == #"{"member":"address","old":"(hidden)","new":"(hidden)"}"#)
            let revealed = try await tool.objects("streams", "diff", "event-12", "1", "2", "--reveal")
            #expect(revealed.first { $0["member"] == "name" }?["new"] == "Tea\u{1B}[2J")
            #expect(!differences.contains { $0["member"] == "owner" })

            for nothing in [
                ["show", "event-999"], ["state", "event-12", "--version", "3"], ["state", "event-12", "--at", "2000-01-01"],
                ["diff", "event-12", "1", "3"],
            ] {
                let result = try await HumonProcess.run(["streams"] + nothing, in: tool.directory, environment: tool.environment)
                #expect(result.status == 2 && result.output.isEmpty && !result.error.isEmpty, "\(nothing): \(result.error)")
            }

            let tail = try await tool.objects("log", "tail", "-n", "2")
            #expect(tail.count == 2)
            #expect(tail[1]["type"] == "EventUpdated")
            #expect(tail[1]["data"]?["lon"] == "(hidden)")
            let position = try #require(tail[1]["position"]?.storedInteger)
            #expect(try await tool.objects("log", "show", "\(position)") == [tail[1]])
            #expect(try await tool.run("log", "show", "\(position + 1)").status == 2)
            let created = try await tool.objects("log", "tail", "--since", "1h", "--type", "EventCreated")
            #expect(created.count == 40)
            let last = try await tool.objects("log", "tail", "--since", "1h", "--category", "event", "-n", "1")
            #expect(last == [tail[1]])

            for search in [
                ["--request", "tea-time"], ["--trace", "0af7651916cd43dd8448eb211c80319c"], ["--text", "Secret Street"],
                ["--actor", "1", "--type", "EventUpdated"],
            ] {
                let found = try await HumonProcess.run(
                    ["log", "search", "--json"] + search, in: tool.directory, environment: tool.environment)
                #expect(found.output == tail[1].text + "\n", "\(search): \(found.error)")
            }
            for id in ["tea-time", "0af7651916cd43dd8448eb211c80319c"] {
                #expect(try await tool.objects("log", "trace", id) == [tail[1]])
            }
            #expect(try await tool.run("log", "trace", "coffee").status == 2)
            #expect(try await tool.run("log", "search", "--text", "coffee").status == 2)
            let stopped = try await tool.run("log", "search", "--text", "coffee", "--scan", "10")
            #expect((stopped.status, stopped.output) == (0, ""))
            #expect(stopped.error.contains("Stopped before position \(position - 9)"))
            let unclear = try await tool.run("log", "search", "--since", "yesterday")
            #expect(unclear.status == 64)
            #expect(unclear.error.contains("yesterday is no time: write"))
            let hostile = try await tool.run("log", "search", "--since", "\u{1B}[2J\nall is well")
            #expect(hostile.status == 64 && !hostile.error.contains("\u{1B}"), "\(hostile.error)")

            let stats = try await tool.objects("log", "stats")
            #expect(stats.first { $0["type"] == "EventCreated" }?["events"] == JSON(40))
            #expect(stats.last?["events"] == JSON(position))
            for name in ["category", "type", "bytes", "first_at", "last_at", "per_day"] {
                #expect(stats.last?[name] != nil, "\(name)")
            }
            let table = try await tool.run("log", "stats")
            #expect(table.output.hasPrefix("category    type"))

            // A proxy may send the same id as request and as trace.
            let id = "0af7651916cd43dd8448eb211c80319c"
            try await tool.database.withClient { client in
                _ = try await client.query(
                    """
                    INSERT INTO log.recorded_events
                    SELECT log.tail() + 1, gen_random_uuid(), 'user-99', 1, type, 1, now(), data,
                        json_build_object('request_id', \(id), 'actor', 1, 'trace_id', NULL), personal
                    FROM log.recorded_events WHERE stream = 'user-1'
                    """
                )
            }
            #expect(try await tool.objects("log", "trace", id).count == 2)
            #expect(try await tool.objects("log", "trace", id, "--before", "\(position + 1)") == [tail[1]])
        }
    }

    @Test func `log tail -f follows new events, and ends with its reader or at Ctrl-C`() async throws {
        try await Tool.with { tool in
            let subscription = try HumonProcess(
                ["log", "tail", "-f", "-n", "1", "--json", "--category", "user"], in: tool.directory,
                environment: tool.environment)
            try await eventually { subscription.output.contains("UserCreated") }
            let script = "exec 3>&1; { \(HumonProcess.executable.path) log tail -f -n 1; echo $? >&3; } | head -n 1"
            let left = try HumonProcess(
                ["-c", script], in: tool.directory, environment: tool.environment, executable: URL(fileURLWithPath: "/bin/sh"))
            // The command ends although no further event is recorded.
            #expect(try await left.untilExit() == 0)
            #expect(left.output.hasSuffix("\n0\n"), "\(left.output) \(left.error)")

            try await tool.database.withClient { client in
                _ = try await client.query(
                    """
                    INSERT INTO log.recorded_events
                    SELECT log.tail() + 1, gen_random_uuid(), 'user-99', 1, type, 1, now(), data, metadata, personal
                    FROM log.recorded_events WHERE stream = 'user-1'
                    """
                )
            }
            try await eventually { subscription.output.split(separator: "\n").count == 2 }
            subscription.send(SIGINT)
            #expect(try await subscription.untilExit() == 130)
            #expect(subscription.output.contains(#""stream":"user-99""#))
        }
    }
}

@Suite struct `A database that cannot be read` {
    @Test func `an unreadable database gives a message with a hint`() async throws {
        try await HumonProcess.withDatabase { database, directory in
            let none = try await HumonProcess.run(["log", "tail"], in: directory)
            #expect(none.status == 1)
            #expect(none.error.contains("has no database yet"))
            let empty = try await HumonProcess.run(["log", "tail"], on: database)
            #expect(empty.status == 1)
            #expect(empty.error.contains("run humon migrate"), "\(empty.error)")
        }
        try await TestDatabase.with { database in
            try await HumonProcess.withDirectory { directory in
                let login = "nobody_\(UUID().uuidString.prefix(8).lowercased())"
                try await database.withClient { client in
                    _ = try await client.query("CREATE ROLE \(identifier: login) LOGIN")
                }
                let url = database.url.replacing("user=humon", with: "user=\(login)")
                let stranger = try await HumonProcess.run(["log", "tail"], in: directory, environment: ["DATABASE_URL": url])
                #expect(stranger.status == 1)
                #expect(stranger.error.contains("GRANT log_reader TO \"\(login)\""), "\(stranger.error)")
                try await database.withClient { client in _ = try await client.query("DROP ROLE \(identifier: login)") }
            }
        }
    }
}
