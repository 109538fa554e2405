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
