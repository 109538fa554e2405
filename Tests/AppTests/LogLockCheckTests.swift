import Encoding
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@testable import App
@testable import EventStore

@Suite struct `The log's lock in the doctor` {
    private static func holder(waitedSeconds: Double, silentSince: Double?) -> LogLock.Holder {
        LogLock.Holder(
            process: 4711, name: "humon tea:8080", role: "humon", address: "10.0.0.7", holdsLogLock: true,
            beganAt: Timestamp(milliseconds: 1_379_289_600_123),
            waiting: 3,
            waitedSeconds: waitedSeconds, silentSince: silentSince)
    }

    @Test func `a lock that appends wait for is bad, and its node, since when and the cure are named`() {
        let check = LogChecks.lock([Self.holder(waitedSeconds: 97, silentSince: 1)])
        #expect(check.state == .bad)
        #expect(
            check.result
                == "held by humon tea:8080 (humon at 10.0.0.7) since 2013-09-16T00:00:00.123Z; its client is silent; 3 sessions wait, the first for 1 min 37 s"
        )
        #expect(check.hint?.contains("SELECT pg_terminate_backend(4711);") == true)
    }

    @Test func `a process of PostgreSQL itself has neither a role nor an address`() {
        var holder = Self.holder(waitedSeconds: 97, silentSince: nil)
        (holder.role, holder.address, holder.beganAt) = (nil, nil, nil)
        #expect(LogChecks.lock([holder]).result == "held by humon tea:8080; 3 sessions wait, the first for 1 min 37 s")
    }

    @Test func `a lock that nobody waits for, or for a moment only, is not bad`() {
        #expect(LogChecks.lock([]).state == .ok)
        #expect(LogChecks.lock([Self.holder(waitedSeconds: 0.3, silentSince: nil)]).state == .ok)
    }

    @Test func `a lock of a table is bad though no other session waits, and the statement is named`() {
        var holder = Self.holder(waitedSeconds: 16, silentSince: nil)
        (holder.holdsLogLock, holder.waiting, holder.query) = (false, 0, "LOCK TABLE log.commands")
        let result = LogChecks.lock([holder]).result
        #expect(result.hasPrefix("an append waits for humon tea:8080 (humon at 10.0.0.7) since "), "\(result)")
        #expect(result.hasSuffix("Z; its statement is LOCK TABLE log.commands; the append waits for 16.0 s"), "\(result)")
    }

    @Test(.database, arguments: ["recorded_events", "append_lock"])
    func `the doctor names the session whose lock of a table an append waits for`(table: String) async throws {
        try await database.withClient { client in
            try await client.withTransaction { connection in
                let lock = "LOCK TABLE log.\(table) IN ACCESS EXCLUSIVE MODE"
                try await connection.query(SQL(unsafeText: lock))
                let append = Task {
                    try await client.withTransaction { connection in
                        try await connection.query("SELECT log.lock()")
                        try await connection.query("SELECT FROM log.recorded_events LIMIT 0")
                    }
                }
                try await database.withClient { looking in
                    var line = DoctorLine("", .ok, "")
                    try await eventually("a bad line") {
                        line = try await LogChecks(client: looking).lock()
                        return line.state == .bad
                    }
                    #expect(line.result.hasPrefix("an append waits for postgres-client ("), "\(line.result)")
                    let end = "; its statement is \(lock); its client is silent; the append waits for "
                    #expect(line.result.contains(end), "\(line.result)")
                }
                append.cancel()
            }
        }
    }

    @Test(.database) func `a statement is shown up to its first text in quotes`() async throws {
        try await database.withClient { client in
            try await client.withTransaction { connection in
                try await connection.query("SELECT log.lock(), $$ann's@example.org$$, E'\\'bob@example.org'")
                let append = Task { try await client.query("SELECT log.lock()") }
                try await database.withClient { looking in
                    var holders: [LogLock.Holder] = []
                    try await eventually("a holder") {
                        holders = try await LogLock(client: looking).holders()
                        return !holders.isEmpty
                    }
                    #expect(holders.map(\.query) == ["SELECT log.lock(), …"])
                }
                append.cancel()
            }
        }
    }

    @Test func `a session is named after its node, within the 63 bytes of PostgreSQL`() {
        #expect(SessionName.ofServer(port: 8081, host: "tea") == "humon tea:8081")
        let long = SessionName.ofServer(port: 8081, host: String(repeating: "t", count: 100))
        #expect(long.utf8.count == 63)
        #expect(long.hasSuffix("t:8081"))
        #expect(SessionName.ofCommand(host: String(repeating: "t", count: 100)).utf8.count == 63)
    }

    @Test(.emptyDatabase, .directory)
    func `the sessions of a server have its name, and the doctor finds a silent holder`() async throws {
        #expect(try await HumonProcess.run(["migrate"], in: directory, environment: environment).status == 0)
        try await database.withClient { client in
            try await client.withTransaction { connection in
                try await connection.query("SELECT log.lock()")
                let append = Task { try await client.query("SELECT log.lock()") }
                // By a client of its own: this one's free connection may not be open yet, and then takes both statements.
                try await database.withClient { looking in
                    try await eventually("a session that waits for two seconds") {
                        try await LogLock(client: looking).holders().contains { $0.waitedSeconds > 2 }
                    }
                }
                let doctor = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
                #expect(doctor.status == 2)
                #expect(
                    doctor.output.firstMatch(
                        of: /log lock +bad +held by postgres-client \(\w+\) since .*; its client is silent; 1 session waits/)
                        != nil, "\(doctor.output)")
                append.cancel()
            }
        }
    }
}
