import Encoding
import EventStore
import Testing

@testable import App

@Suite struct `The states of a line of humon doctor` {
    private static let gigabyte: Int64 = 1_000_000_000

    @Test func `the database must have a supported version and answer fast`() {
        func state(_ number: Int32, _ seconds: Double) -> DoctorLine.State {
            ServerChecks.database(version: "x", number: number, querySeconds: seconds).state
        }
        #expect(state(150_018, 0.001) == .ok)
        #expect(state(140_011, 0.001) == .bad)
        #expect(state(170_000, 0.2) == .warn)
    }

    @Test func `the disk must have room for a rebuild`() {
        func state(database: Int64, free: Int64?) -> DoctorLine.State {
            ServerChecks.disk(databaseBytes: database, logBytes: 1, freeBytes: free).state
        }
        #expect(state(database: Self.gigabyte, free: nil) == .ok)
        #expect(state(database: Self.gigabyte, free: 3 * Self.gigabyte) == .ok)
        #expect(state(database: 5 * Self.gigabyte, free: 3 * Self.gigabyte) == .warn)
        #expect(state(database: 1, free: Self.gigabyte / 10) == .bad)
    }

    @Test func `a WAL archive is bad if the last attempt failed, with the time of the last success`() {
        func check(_ mode: String, _ fails: Bool, _ archivedAt: Timestamp?) -> DoctorLine {
            ServerChecks.archive(
                mode: mode, failures: 1_003, segment: "0000000100000000000000A7", fails: fails, archivedAt: archivedAt)
        }
        let then = Timestamp(milliseconds: 1_379_289_600_123)
        #expect(check("off", true, then) == DoctorLine("wal archive", .ok, "PostgreSQL archives no WAL"))
        #expect(check("on", false, nil) == DoctorLine("wal archive", .ok, "nothing was archived yet"))
        let sound = check("always", false, then)
        #expect((sound.state, sound.result) == (.ok, "the newest segment was archived at 2013-09-16T00:00:00.123Z"))
        let failing = check("on", true, then)
        #expect(failing.state == .bad)
        #expect(
            failing.result
                == "nothing was archived since 2013-09-16T00:00:00.123Z; failures: 1,003, the last with 0000000100000000000000A7")
        #expect(check("on", true, nil).result.hasPrefix("nothing was ever archived; "))
    }

    @Test func `an index near its memory limit is a warning`() throws {
        func check(_ member: String) throws -> DoctorLine {
            let answer = #"{"position":7,"events":3,"differing":0,"differences":[]\#(member)}"#
            return IndexCheck.check(status: 200, try JSON(utf8: answer.utf8))
        }
        #expect(try check(#","memory_percent":80"#).state == .ok)
        let full = try check(#","memory_percent":81"#)
        #expect(full.state == .warn && full.result.hasSuffix("and takes 81 % of its memory limit"))
        // A server of an earlier release does not say it.
        #expect(try check("").state == .ok)
    }

    @Test func `without a private database the disk is looked at, and a full one comes first`() {
        #expect(ServerChecks.disk(withoutDatabase: "/")?.name == "disk")
        #expect(ServerChecks.disk(withoutDatabase: "/nowhere") == nil)
        let full = DoctorReport.notReached("pg_ctl start failed", isPrivate: true, isDiskFull: true)
        #expect(full.state == .bad)
        #expect(full.hint == "Free space on the disk of HUMON_DATA first: PostgreSQL does not work without it.")
        let free = DoctorReport.notReached("pg_ctl start failed", isPrivate: true, isDiskFull: false)
        #expect(free.hint == "Start humon serve, or name another directory in HUMON_DATA.")
    }

    @Test func `the clock check allows for the round-trip time`() {
        func state(_ ahead: Double, _ uncertainty: Double, _ newestAhead: Double? = nil) -> DoctorLine.State {
            ServerChecks.clock(ahead: ahead, uncertainty: uncertainty, newestAhead: newestAhead).state
        }
        #expect(state(0.5, 0.001) == .ok)
        #expect(state(-3, 2.5) == .ok)
        #expect(state(-3, 0.1) == .bad)
        #expect(state(3, 0.1) == .bad)
        #expect(state(0, 0, -1_000) == .ok)
        #expect(state(0, 0, 5) == .bad)
    }
}
