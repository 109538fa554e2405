import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `humon users erase` {
    @Test func `a running server forgets the user, and drops the tables that a rebuild replaced when their last reader ends`()
        async throws
    {
        try await HumonProcess.withServer { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            @Sendable func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(arguments, on: database)
            }
            _ = try await exchange(
                "POST", base + "/users", headers: [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "person")])
            let event = #"{"name":"Zyzzyva","lat":1,"lon":2,"started_at":"2030-09-16T00:00:00.000Z"}"#
            let created = try await exchange(
                "POST", base + "/events", headers: [("tb-device-token", "person"), ("content-type", "application/json")],
                body: event)
            #expect(created.status == 200)

            let export = try await humon("users", "export", "1").succeeded()
            #expect(export.output.contains("Zyzzyva"), "\(export.output)")
            let nobody = try await humon("users", "export", "7")
            #expect((nobody.status, nobody.output, nobody.error) == (2, "", "No user has the id 7.\n"))
            let refused = try await humon("users", "erase", "1")
            #expect((refused.status, refused.output) == (2, ""))
            #expect(refused.error.hasSuffix("Nothing was changed. To go on without a terminal, give --yes.\n"))
            let extent = #""events":1,"attendances":0,"domain_events":2,"commands":0,"parked_streams":0"#
            let trial = try await humon("users", "erase", "1", "--dry-run", "--json")
            #expect(trial.output == #"{"user":1,"state":"would be erased",\#(extent)}"# + "\n", "\(trial.error)")
            #expect(try await exchange("GET", base + "/events/1").status == 200)

            let erased = try await database.withClient { client async throws in
                try await client.withTransaction { connection in
                    try await connection.query("SELECT FROM events_v1.events LIMIT 0")
                    try await humon("projections", "rebuild", "events").succeeded()
                    let erased = try await humon("users", "erase", "1", "--yes", "--json")
                    let names = try await connection.query("SELECT name FROM events_v1_replaced.events").decode(String.self)
                    #expect(names == ["Zyzzyva"])
                    return erased
                }
            }
            #expect(
                erased.output == #"{"user":1,"state":"erased",\#(extent),"position":3}"# + "\n", "\(erased.output)\(erased.error)"
            )
            #expect(try await exchange("GET", base + "/events/1").status == 404)
            #expect(erased.status == 0, "\(erased.error)")
            let me = try await exchange("GET", base + "/users/me", headers: [("tb-device-token", "person")])
            #expect(me.status == 401)
            #expect(try await humon("log", "verify").status == 0)
            #expect(try await humon("projections", "verify", "--all").status == 0)

            // The server looks once a minute.
            try await database.withClient { client async throws in
                try await eventually("the replaced tables to go", within: .seconds(150)) {
                    try await client.query("SELECT to_regnamespace('events_v1_replaced') IS NULL").decode(Bool.self) == [true]
                }
            }
            let again = try await humon("users", "erase", "1", "--yes", "--json")
            #expect((again.status, again.output) == (0, #"{"user":1,"state":"was erased before"}"# + "\n"), "\(again.error)")
            let unknown = try await humon("users", "erase", "7", "--yes")
            #expect((unknown.status, unknown.error) == (2, "No user has the id 7.\n"))
            #expect(try await humon("users", "erase", "0").status == 64)
        }
    }
}

@Suite struct `humon accounts erase` {
    @Test func `a running server forgets the account, which an id or an address names`() async throws {
        try await HumonProcess.withServer { _, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            @Sendable func humon(_ arguments: String...) async throws -> HumonProcess.Result {
                try await HumonProcess.run(["accounts", "erase"] + arguments, on: database)
            }
            let signedUp = try await exchange(
                "POST", base + "/users", headers: [("content-type", "application/x-www-form-urlencoded")],
                body: "user[email]=ann@example.org&user[password]=correct horse")
            let token = try String(#require(signedUp.body.firstMatch(of: /"token":"([^"]+)"/)).1)
            let headers = [("authorization", "Bearer \(token)"), ("content-type", "application/json")]
            let created = try await exchange("POST", base + "/tasks", headers: headers, body: #"{"task":{"title":"Zyzzyva"}}"#)
            #expect(created.status == 200)

            for name in ["1", "Ann@example.org"] {
                let export = try await HumonProcess.run(["accounts", "export", name], on: database).succeeded()
                for word in ["ann@example.org", "Zyzzyva"] { #expect(export.output.contains(word), "\(export.output)") }
            }
            let nobody = try await HumonProcess.run(["accounts", "export", "nobody"], on: database)
            #expect((nobody.status, nobody.output, nobody.error) == (2, "", "No account has this id or address.\n"))
            let refused = try await humon("1")
            #expect((refused.status, refused.output) == (2, ""))
            let extent = #""tasks":1,"domain_events":2,"commands":0,"parked_streams":0"#
            let trial = try await humon("Ann@example.org", "--dry-run", "--json")
            #expect(trial.output == #"{"account":1,"state":"would be erased",\#(extent)}"# + "\n", "\(trial.error)")
            #expect(try await exchange("GET", base + "/tasks", headers: headers).status == 200)

            let erased = try await humon("ann@example.org", "--yes", "--json")
            #expect(
                (erased.status, erased.output) == (0, #"{"account":1,"state":"erased",\#(extent),"position":3}"# + "\n"),
                "\(erased.error)")
            #expect(try await exchange("GET", base + "/tasks", headers: headers).status == 401)
            let again = try await humon("1", "--yes", "--json")
            #expect((again.status, again.output) == (0, #"{"account":1,"state":"was erased before"}"# + "\n"), "\(again.error)")
            for name in ["ann@example.org", "7", "nobody"] {
                let unknown = try await humon(name, "--yes")
                #expect((unknown.status, unknown.error) == (2, "No account has this id or address.\n"), "\(name)")
            }
        }
    }
}
