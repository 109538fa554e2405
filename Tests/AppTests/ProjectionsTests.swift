import App
import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.emptyDatabase, .directory) struct `humon projections` {
    private static let names = StoredModule.all.projections.map { type(of: $0).name }

    /// The same value for each read model.
    private static func each(_ value: JSON) -> [JSON?] { names.map { _ in value } }

    private static func objects(_ text: String) throws -> [JSON] {
        try text.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
    }

    @Test func `the commands list, rebuild, verify and prune read models`() async throws {
        let environment = ["DATABASE_URL": database.url]
        try await HumonProcess.run(["demo", "--events", "30"], in: directory, environment: environment).succeeded()
        func humon(_ arguments: [String]) async throws -> HumonProcess.Result {
            try await HumonProcess.run(["projections"] + arguments, in: directory, environment: environment)
        }
        let list = try await humon(["list", "--json"])
        #expect(
            try Self.objects(list.output).map { $0["schema"] }
                == StoredModule.all.projections.map { .string(type(of: $0).schema) })
        #expect(try Self.objects(list.output).map { $0["state"] } == Self.each("ready"))
        #expect(try Self.objects(list.output).map { $0["lag"] } == Self.each(.number("0")))

        let verified = try await humon(["verify", "--all", "--json"]).succeeded()
        #expect(try Self.objects(verified.output).map { $0["state"] } == Self.each("equal"))

        // A wrong row is found, printed without personal data, and repaired.
        _ = try await database.withClient { client in
            try await client.query("UPDATE events_v1.events SET name = 'A lie', lat = 1 WHERE id = 7")
        }
        let lie = try await humon(["verify", "events", "users"])
        #expect(lie.status == 2)
        #expect(lie.output.firstMatch(of: /events +differs +\d+ +30 +1\n/) != nil, "\(lie.output)")
        let hidden = /events +events +{"id":7} +different +({"name":"\(hidden\)","lat":"\(hidden\)"}) +\1\n/
        #expect(lie.output.firstMatch(of: hidden) != nil, "\(lie.output)")
        let revealed = try await humon(["verify", "events", "--json", "--reveal"])
        #expect(revealed.output.contains(#""found":{"name":"A lie","lat":1}"#), "\(revealed.output)")

        let rebuilt = try await humon(["rebuild", "--all", "--json"]).succeeded()
        #expect(try Self.objects(rebuilt.output).map { $0["name"] } == Self.names.map { .string($0) })
        #expect(try await humon(["verify", "--all"]).status == 0)

        // As a newer version leaves it.
        try await database.asSuperuser(
            "INSERT INTO log.projections SELECT name, 9, tables, indexes FROM log.projections WHERE name = 'events'")
        try await database.asSuperuser("SELECT log.create_read_model('events_v9')")
        let schemas: SQL = "SELECT nspname::text || ' ' || oid FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' ORDER BY 1"
        let before = try await database.withClient { try await $0.query(schemas).decode(String.self) }
        let refused = try await humon(["prune", "--all"])
        #expect((refused.status, refused.output) == (2, ""))
        #expect(refused.error.hasSuffix("Nothing was changed. To go on without a terminal, give --yes.\n"), "\(refused.error)")
        let trial = try await humon(["prune", "--all", "--dry-run"])
        let after = try await database.withClient { try await $0.query(schemas).decode(String.self) }
        #expect(after == before)
        let pruned = try await humon(["prune", "--all", "--yes"])
        #expect(pruned.output.contains("events_v9"))
        #expect(
            trial.output.replacing("would be dropped", with: "dropped").replacing(/\ +/, with: " ")
                == pruned.output.replacing(/\ +/, with: " "))
        let empty = try await humon(["prune", "--all"])
        #expect((empty.status, empty.output) == (0, "There was nothing to drop.\n"))

        for (arguments, sentence) in [
            (["rebuild"], "Name read models, or give --all."),
            (["rebuild", "teas"], "There is no read model teas; there are \(Self.names.joined(separator: ", "))."),
            (["verify", "users", "--all"], "Name read models, or give --all."),
        ] {
            let result = try await humon(arguments)
            #expect(result.status == 64 && result.error.contains(sentence), "\(result.error)")
        }
        #expect(try await humon(["rebuild", "--all", "--abort", "--yes"]).status == 2)
    }
}
