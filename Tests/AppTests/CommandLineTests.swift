import ArgumentParser
import Encoding
import EventStore
import Foundation
import HTTP
import HTTPServer
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `The command line` {
    private static func humon(
        _ directory: URL, _ environment: [String: String] = [:], _ arguments: String...
    ) async throws -> HumonProcess.Result {
        try await HumonProcess.run(arguments, in: directory, environment: environment)
    }

    @Test func `with --version prints the version of the program alone`() async throws {
        try await HumonProcess.withDirectory { directory in
            let result = try await Self.humon(directory, [:], "--version")
            #expect((result.status, result.output, result.error) == (0, Version.current + "\n", ""))
        }
        #expect(Version.current.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
    }

    @Test(.database, .directory)
    func `with --database uses that database instead of DATABASE_URL and DATABASE_URL_FILE`() async throws {
        for environment in [
            ["DATABASE_URL": "postgres://humon@127.0.0.1:1/humon"], ["DATABASE_URL_FILE": "/nowhere"], [:],
        ] {
            let result = try await Self.humon(directory, environment, "log", "stats", "--database", database.url)
            #expect((result.status, result.output) == (0, "The log is empty.\n"), "\(result.error)")
        }
        let empty = try await Self.humon(directory, [:], "log", "stats", "--database", "")
        #expect(empty.status == 64)
    }

    @Test(.directory) func `never shows the password of the URL after --database`() async throws {
        for (arguments, url) in [
            (["doctor"], "postgres://humon:hush-hush@127.0.0.1:1/humon"), (["serve"], "hush-hush"),
            (["log", "stats", "--limit"], "postgres://humon:hush-hush@:x:/?a=b"),
        ] {
            let result = try await HumonProcess.run(
                arguments + ["--database", url], in: directory, environment: ["TB_APP_SECRET": HumonProcess.secret])
            #expect(result.status != 0)
            #expect(!result.error.contains("hush") && !result.output.contains("hush"), "\(result.error)\(result.output)")
        }
    }

    @Test func `names the command that helps behind an error of the log`() {
        #expect(Humon.hint(for: EventLogError.lockHeld).contains("humon doctor"))
        #expect(Humon.hint(for: ReadModelError.missing).contains("humon projections rebuild --all"))
        #expect(Humon.hint(for: ReadModelError.underWay("users_v1")).contains("humon projections list"))
        #expect(Humon.hint(for: ReadModelError.busy).isEmpty)
    }

    @Test func `offers --database in every command that uses the database`() throws {
        func leaves(_ command: CommandReference, _ words: [String]) -> [(words: String, names: [String])] {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            guard below.isEmpty else { return below.flatMap { leaves($0, words + [$0.commandName]) } }
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.text)
            return [(words.joined(separator: " "), names)]
        }
        let commands = leaves(try CommandReference.root(), [])
        #expect(commands.count > 20)
        let without = commands.filter { !$0.names.contains("--database") }.map(\.words)
        #expect(Set(without) == ["settings", "backup", "restore", "cluster upgrade"])
    }
}

@Suite struct `humon settings` {
    private static func rows(_ text: String) throws -> [String: JSON] {
        let rows = try text.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
        return Dictionary(rows.map { ($0["name"]?.word ?? "", $0) }) { first, _ in first }
    }

    @Test(.directory)
    func `shows each value with its source, and no secret, and exits with 2 if one is unusable or unknown`() async throws {
        let token = "0123456789abcdef-hush"
        try "\(token)\n".write(to: directory.appending(path: "token"), atomically: true, encoding: .utf8)
        try "HUMON_HOST=127.0.0.2\nHUMON_PORT=1\nTB_APP_SECRET=hush-hush\n".write(
            to: directory.appending(path: ".env"), atomically: true, encoding: .utf8)
        let environment = [
            "DATABASE_URL": "postgres://humon:hush@127.0.0.1/humon", "HUMON_PORT": "8090", "HUMON_ADMIN_TOKEN_FILE": "token",
        ]
        let table = try await HumonProcess.run(["settings"], in: directory, environment: environment).succeeded()
        #expect(table.output.contains(/HUMON_PORT +8090 +environment +8080 +1\.0\.0 +The port/))
        let faulty = environment.merging(["HUMON_STREAMS": "tea", "HUMON_PROT": "1"]) { $1 }
        let result = try await HumonProcess.run(["settings", "--json"], in: directory, environment: faulty)
        #expect(result.status == 2)
        #expect(result.error.contains("HUMON_PROT is not a setting of humon"), "\(result.error)")
        #expect(result.error.contains("HUMON_STREAMS must be a whole number from "), "\(result.error)")
        let rows = try Self.rows(result.output)
        #expect(rows.count == 38)
        for (name, value, source) in [
            ("HUMON_PORT", "8090", "environment"), ("HUMON_HOST", "127.0.0.2", ".env"), ("HUMON_REQUESTS", "256", "default"),
            ("DATABASE_URL", "(hidden)", "environment"), ("TB_APP_SECRET", "(hidden)", ".env"),
            ("HUMON_ADMIN_TOKEN", "(hidden)", "file"),
        ] {
            #expect(rows[name]?["value"]?.word == value, "\(name)")
            #expect(rows[name]?["source"]?.word == source, "\(name)")
        }
        #expect(rows["HUMON_STREAMS"]?["value"]?.word == "(unusable)")
        #expect(rows["HUMON_TILES"]?["value"] == .null)
        #expect(rows["HUMON_PORT"]?["default"]?.word == "8080")
        #expect(rows["HUMON_PORT"]?["help"]?.word.isEmpty == false)
        #expect(!(result.output + result.error + table.output).contains("hush"))
    }

    @Test func `has a name of its own for each setting`() {
        var reader = SettingReader(places: [])
        let settings = Settings(&reader)
        #expect(Set(settings.all.map(\.name)).count == settings.all.count)
        // Beside the settings there is only their list.
        #expect(settings.all.count == Mirror(reflecting: settings).children.count - 1)
    }

    @Test func `names the release of each setting: a later one, or 1.0.0`() {
        var reader = SettingReader(places: [])
        let settings = Settings(&reader).all
        #expect(Set(Setting.laterReleases.keys).isSubset(of: settings.map(\.name)))
        #expect(settings.filter { $0.since == "1.0.0" }.count == settings.count - Setting.laterReleases.count)
    }

    @Test(
        arguments: [
            ("HUMON_PROT", "HUMON_PORT"), ("HUMON_STREAM", "HUMON_STREAMS"), ("HUMON_APSP", "HUMON_APPS"),
            ("HUMON_H0ST", "HUMON_HOST"), ("HUMON_ADMIN_TOKEN_FIL", "HUMON_ADMIN_TOKEN_FILE"), ("HUMON_TEA", nil),
        ] as [(String, String?)])
    func `names the setting that a misspelt one may be, else that a newer release may have it`(name: String, nearest: String?) {
        var reader = SettingReader(places: [(.environment, [name: "1"])])
        _ = Settings(&reader)
        #expect(reader.unknownNames == [.unknown(name: name, nearest: nearest)])
        let sentence = reader.unknownNames.map(\.description).joined()
        let end = nearest.map { "; did you mean \($0)?" } ?? " \(Version.current): take it out, as when you go back"
        #expect(sentence.hasPrefix("\(name) is not a setting of humon\(end)"), "\(sentence)")
    }

    @Test func `a server has the fixed limits, and those of the settings`() {
        let values = ["HUMON_STATEMENT_TIMEOUT_SECONDS": "7", "HUMON_STREAMS": "8", "HUMON_STREAMS_PER_ADDRESS": "9"]
        var reader = SettingReader(places: [(.environment, values)])
        let settings = Settings(&reader)
        let configuration = settings.serverConfiguration(connections: 36, drain: Drain())
        #expect((configuration.streams.limits.total, configuration.streams.limits.perAddress) == (8, 9))
        #expect(settings.operatorServerConfiguration().maximumConnections == 64)
        let limits = configuration.limits
        #expect((limits.idleSeconds, limits.arrivalSeconds, limits.responseSeconds) == (75, 20, 27))
        #expect((limits.headerBytes, limits.bodyBytes) == (32_768, 65_536))
        let api = settings.api(secret: HumonProcess.secret)
        #expect((api.signInsPerMinute, api.accountSignInsPerMinute) == (20, 10))
    }

    @Test(arguments: [(750, 187, 563, 100), (16_000, 1_000, 10_000, 100), (9, 2, 7, 2), (1, 1, 1, 1)])
    func `an address may take a quarter of few connections, and streams three quarters`(
        connections: Int, ofAddress: Int, streams: Int, streamsOfAddress: Int
    ) {
        var reader = SettingReader(places: [])
        let configuration = Settings(&reader).serverConfiguration(connections: connections, drain: Drain())
        #expect(configuration.maximumConnectionsPerAddress == ofAddress)
        #expect(configuration.streams.limits.total == streams)
        #expect(configuration.streams.limits.perAddress == streamsOfAddress)
    }
}
