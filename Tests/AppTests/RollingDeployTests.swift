import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestExposition
import TestServer
import Testing

/// Runs releases of one program as processes on one database. `Tests/Support/TestRelease` is humon with a further module. The module's stored
/// format changes from release to release.
@Suite struct `A rolling deploy of a stored format` {
    private enum Release: String {
        case old, reading, writing
    }

    private struct Fleet: Sendable {
        static let executable = HumonProcess.executable.deletingLastPathComponent().appending(path: "TestRelease")
        let directory: URL
        let database: TestDatabase

        private func environment(_ release: Release) -> [String: String] {
            ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "TEST_RELEASE": release.rawValue]
        }

        /// - Parameter count: of the versions that serve during the body, this one included
        func serving(_ release: Release, beside count: Int, _ body: (Node) async throws -> Void) async throws {
            let environment = environment(release)
            try await HumonProcess.withServer(in: directory, environment: environment, executable: Self.executable) { _, port in
                try await untilServing(count)
                try await body(Node(base: "http://127.0.0.1:\(port)"))
            }
            try await untilServing(count - 1)
        }

        /// Waits until this number of versions hold the lock of a serving version. PostgreSQL ends a session a moment after its client.
        private func untilServing(_ count: Int) async throws {
            try await database.withClient(connections: 1) { client in
                try await eventually("\(count) serving versions") {
                    // The class of the locks is "humf".
                    try await client.query(
                        """
                        SELECT count(DISTINCT objid) FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = \(0x6875_6D66 as Int64)
                            AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                        """
                    ).decode(Int64.self) == [Int64(count)]
                }
            }
        }

        func run(_ release: Release, _ arguments: String...) async throws -> HumonProcess.Result {
            try await HumonProcess.run(
                arguments, in: directory, environment: environment(release), executable: Self.executable)
        }

        /// Starts a server that must not start.
        /// - Returns: its exit status and its last words
        func refusal(of release: Release) async throws -> (status: Int32, error: String) {
            let server = try HumonProcess(
                ["serve"], in: directory, environment: environment(release), executable: Self.executable)
            await #expect(throws: HumonProcess.NotStarted.self) { try await server.port() }
            return (try await server.stop(), server.error)
        }
    }

    private struct Node: Sendable {
        let base: String

        func cook(litres: Int) async throws -> Int {
            let headers = [("tb-app-secret", HumonProcess.secret)]
            return try await exchange("POST", "\(base)/v1/soups/\(litres)", headers: headers).status
        }

        func millilitres() async throws -> String {
            try await exchange("GET", "\(base)/v1/soups", headers: [("tb-app-secret", HumonProcess.secret)]).body
        }
    }

    private static func withFleet(_ body: (Fleet) async throws -> Void) async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await HumonProcess.withDirectory { try await body(Fleet(directory: $0, database: database)) }
        }
    }

    private static let readFirst = """
        This program writes SoupCooked in format 2, and a server that runs now reads it up to format 1. First replace every server by a \
        release that reads this format and does not write it yet; then start this program.
        """
    private static let tooOld = """
        A server that runs now writes SoupCooked in format 2, and this program reads it up to format 1. Start a release that reads this \
        format.
        """

    @Test func `a release that writes a new format starts only after the servers that cannot read it have stopped`() async throws
    {
        try await Self.withFleet { fleet in
            try await fleet.serving(.reading, beside: 1) { reading in
                try await fleet.serving(.old, beside: 2) { old in
                    #expect(try await old.cook(litres: 2) == 200)
                    #expect(try await reading.cook(litres: 3) == 200)
                    #expect(try await old.millilitres() == "5000")
                    #expect(try await reading.millilitres() == "5000")

                    let refusal = try await fleet.refusal(of: .writing)
                    #expect(refusal.status == 1)
                    #expect(refusal.error.contains(Self.readFirst), "\(refusal.error)")
                    let doctor = try await fleet.run(.writing, "doctor")
                    #expect(doctor.status == 2)
                    #expect(
                        doctor.output.contains("This program writes SoupCooked in format 2, and a server that runs now reads"),
                        "\(doctor.output)")
                }
                try await fleet.serving(.writing, beside: 2) { writing in
                    #expect(try await writing.cook(litres: 4) == 200)
                    #expect(try await reading.cook(litres: 5) == 200)
                    #expect(try await writing.millilitres() == "14000")
                    #expect(try await reading.millilitres() == "14000")

                    let refusal = try await fleet.refusal(of: .old)
                    #expect(refusal.status == 1)
                    #expect(refusal.error.contains(Self.tooOld), "\(refusal.error)")
                }
            }
            try await fleet.database.withClient { client in
                let formats = try await client.query("SELECT format FROM log.recorded_events ORDER BY position").decode(
                    Int16.self)
                #expect(formats == [1, 1, 2, 1])
            }
            for arguments in [["log", "verify"], ["projections", "verify", "--all"]] {
                try await HumonProcess.run(
                    arguments, in: fleet.directory,
                    environment: ["DATABASE_URL": fleet.database.url, "TEST_RELEASE": Release.reading.rawValue],
                    executable: Fleet.executable
                ).succeeded()
            }
        }
    }
}

/// A domain event of a newer program, in a format that this program does not know.
private enum CreatedAnew: DomainEvent {
    case created

    static let category = "event"
    static let storedTypes = [StoredType("EventCreated", upcasters: [{ $0 }])]
    static let personal = PersonalMembers.none
    init(type: String, content: EventContent) throws { self = .created }
    var stored: (type: String, data: JSON) { ("EventCreated", ["title": "Picnic"]) }
}

/// A newer program that did not register its formats, as a tool of another origin may do.
@Suite struct `A server beside a program that writes an unknown format` {
    /// Appends an unreadable event, in the stream of an event with a number that no server gives.
    private static func appendAnew(_ number: Int, to database: TestDatabase) async throws {
        try await database.append(
            AppendRequest(
                id: UUID(), streams: [StreamAppend([CreatedAnew.created], to: StreamName("event-\(900_000 + number)"), after: 0)],
                recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "test", actor: 7, traceID: nil)))
    }

    /// The event may be the erasure of a person.
    @Test func `every request gets 503, and nothing is tried again in a loop`() async throws {
        try await HumonProcess.withServer(migrated: true) { server, port, database in
            let base = "http://127.0.0.1:\(port)/v1"
            let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
            let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            @Sendable func send(_ method: String, _ path: String, body: String = "", attempts: Int = 30) async throws -> Int {
                let headers = [
                    ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
                ]
                return try await exchange(method, base + path, headers: headers, body: body, attempts: attempts).status
            }
            func reads() async throws -> [Int] {
                let paths = ["/events/1", "/events/nearests?lat=1&lon=2&radius=1", "/users/me"]
                var statuses: [Int] = []
                for path in paths { try await statuses.append(send("GET", path, attempts: 1)) }
                return statuses
            }
            func scrape() async throws -> Exposed { try Exposed(await exchange("GET", operators + "/metrics").body) }

            #expect(try await send("POST", "/users") == 200)
            #expect(try await send("POST", "/events", body: party) == 200)
            #expect(try await reads() == [200, 200, 200])
            try await eventually("the index in use") {
                try await scrape()[#"humon_index_phase{phase="in_use"}"#] == 1
            }
            try await Self.appendAnew(1, to: database)
            try await eventually("the index to meet the unreadable event") {
                try await scrape()["humon_index_stands_before_unreadable"] == 1
            }

            try await eventually("the read models to meet it") { try await reads() == [503, 503, 503] }
            #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health", attempts: 1).status == 503)

            func loads() -> Int { server.error.matches(of: /the index is loaded/).count }
            let (before, loadsBefore, start) = (try await scrape(), loads(), ContinuousClock.now)
            // Each append wakes the index and the read models.
            for number in 2...20 {
                try await Self.appendAnew(number, to: database)
                #expect(try await reads() == [503, 503, 503])
            }
            let writes = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await send("POST", "/events", body: party, attempts: 1) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(writes) == [503])
            let (after, seconds) = (try await scrape(), (ContinuousClock.now - start) / .seconds(1))

            #expect(after[#"humon_index_phase{phase="loading"}"#] == 1)
            #expect(after["humon_index_position"] == before["humon_index_position"])
            #expect(after["humon_log_position"] == 22)
            #expect(loads() == loadsBefore)
            func count(_ name: String) -> Double { (after[name] ?? 0) - (before[name] ?? 0) }
            func pipelines(_ client: String) -> Double {
                count(#"humon_postgres_query_duration_seconds_count{client="\#(client)"}"#)
            }
            // A batch takes about 30 while the other read models follow the log, and as many for each item if it tries them one by one.
            #expect(pipelines("writer") < 100 + 50 * count("humon_writer_batch_size_count"))
            // An index that reads the log in a loop needs hundreds of statements a second. Each of the 20 events wakes every read model.
            #expect(pipelines("readers") < 2_000 + 50 * seconds)
        }
    }
}
