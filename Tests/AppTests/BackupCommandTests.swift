import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.directory) struct `humon backup and humon restore` {
    /// Runs a command on the private PostgreSQL, with the list of erasures if there is one.
    private static func humon(
        _ arguments: String..., in directory: URL, data: String = "data", list: String? = nil, environment: [String: String] = [:]
    ) async throws -> HumonProcess.Result {
        var settings = ["HUMON_DATA": directory.appending(path: data).path, "TB_APP_SECRET": HumonProcess.secret]
        settings["HUMON_ERASURES"] = list
        return try await HumonProcess.run(arguments, in: directory, environment: settings.merging(environment) { $1 })
    }

    @Test func `a backup beside a busy server is restored elsewhere, without the person who was erased after it`() async throws {
        let directory = directory
        let list = directory.appending(path: "erasures").path
        let serving = ["HUMON_ERASURES": list, "TB_APP_SECRET": HumonProcess.secret]
        var held: Int64?
        try await HumonProcess.withServer(in: directory, environment: serving) { _, port in
            let base = "http://127.0.0.1:\(port)/v1"
            let (secret, token) = (("tb-app-secret", HumonProcess.secret), ("tb-device-token", "person"))
            #expect(try await exchange("POST", base + "/users", headers: [secret, token]).status == 200)
            let created = try await exchange(
                "POST", base + "/events", headers: [token, ("content-type", "application/json")],
                body: #"{"name":"Zyzzyva","lat":1,"lon":2,"started_at":"2030-09-16T00:00:00.000Z"}"#)
            #expect(created.status == 200, "\(created.body)")
            async let writes = Self.humon("demo", "--events", "500", "--yes", in: directory)
            let backup = try await Self.humon("backup", "--json", "humon.backup", in: directory).succeeded()
            held = backup.output.firstMatch(of: /"position":(\d+),/).flatMap { Int64($0.1) }
            try await writes.succeeded()
            try await Self.humon("users", "erase", "1", "--yes", in: directory).succeeded()
            try await eventually("the line") {
                try String(contentsOfFile: list, encoding: .utf8).contains(#""person":"user-1""#)
            }
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.appending(path: "humon.backup").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let restored = try await Self.humon("restore", "--json", "humon.backup", in: directory, data: "again", list: list)
            .succeeded()
        let figures = try #require(restored.output.firstMatch(of: /"position":(\d+),"erased":1\}/), "\(restored.output)")
        let (position, least) = (try #require(Int64(figures.1)), try #require(held))
        #expect(position >= least)
        let person = try await Self.humon("streams", "show", "user-1", in: directory, data: "again").succeeded()
        #expect(person.output.contains("UserErased"), "\(person.output)")
        let event = try await Self.humon("streams", "show", "event-1", "--reveal", in: directory, data: "again")
            .succeeded()
        #expect(event.output.contains("EventCreated") && !event.output.contains("Zyzzyva"), "\(event.output)")
        for arguments in [["log", "verify"], ["projections", "verify", "--all"]] {
            try await HumonProcess.run(
                arguments, in: directory, environment: ["HUMON_DATA": directory.appending(path: "again").path]
            ).succeeded()
        }
        let second = try await Self.humon("restore", "humon.backup", in: directory, data: "again", list: list)
        #expect(second.status == 1 && second.error.contains("has a PostgreSQL, which stays"), "\(second.error)")
        #expect(second.error.contains("directory in HUMON_DATA."), "\(second.error)")

        let unasked = try await Self.humon("restore", "--json", "humon.backup", in: directory, data: "third").succeeded()
        #expect(unasked.output.contains(#""erased":null"#), "\(unasked.output)")
        #expect(unasked.error.contains("HUMON_ERASURES is not set"), "\(unasked.error)")
        let lost = try await Self.humon(
            "restore", "humon.backup", in: directory, data: "fourth", list: directory.appending(path: "new").path
        )
        .succeeded()
        #expect(lost.error.contains("no line of this log"), "\(lost.error)")
    }

    @Test func `a damaged backup, another database, and a file that is there already are refused`() async throws {
        let directory = directory
        let none = try await Self.humon("backup", "humon.backup", in: directory)
        #expect(none.status == 1 && none.error.contains("has no database yet"), "\(none.error)")
        try await Self.humon("migrate", in: directory).succeeded()
        try await Self.humon("backup", "humon.backup", in: directory).succeeded()
        let again = try await Self.humon("backup", "humon.backup", in: directory)
        #expect(again.status == 1 && again.error.contains("--force"), "\(again.error)")
        for command in ["backup", "restore"] {
            let url = ["DATABASE_URL": "postgres://humon@127.0.0.1:1/humon"]
            let other = try await Self.humon(command, "humon.backup", in: directory, environment: url)
            #expect(other.status == 1 && other.error.contains("for the private PostgreSQL"), "\(other.error)")
        }
        let backup = directory.appending(path: "humon.backup")
        let whole = try Data(contentsOf: backup)
        try whole.prefix(whole.count / 2).write(to: backup)
        let damaged = try await Self.humon("restore", "humon.backup", in: directory, data: "again")
        #expect(damaged.status == 1 && damaged.error.contains("Nothing was restored: "), "\(damaged.error)")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "again").path)
        #expect(names == ["lock"])
        // The names of .part files would end in this.
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.hasSuffix(".part") })
    }
}
