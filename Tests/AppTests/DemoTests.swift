import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `humon demo` {
    private struct Place: Sendable {
        var directory: URL
        var database: TestDatabase
        var environment: [String: String]

        func demo(_ arguments: String...) async throws -> HumonProcess.Result {
            try await HumonProcess.run(["demo", "--events", "3"] + arguments, in: directory, environment: environment)
        }

        /// Runs the demo at a terminal where a person types a line.
        func demo(typing line: String) async throws -> HumonProcess.Result {
            let command = "script -q -e -c '\(HumonProcess.executable.path) demo --events 3' /dev/null"
            return try await HumonProcess.run(
                ["-c", "printf '\(line)\\n' | \(command)"], in: directory, environment: environment,
                executable: URL(fileURLWithPath: "/bin/sh"))
        }

        /// Records an event of a user of the API.
        func signUp() async throws {
            try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
                let url = "http://127.0.0.1:\(port)/v1/users"
                let answer = try await exchange("POST", url, headers: [("tb-app-secret", HumonProcess.secret)])
                #expect(answer.status == 200)
            }
        }

        /// The number of recorded events, and the last value of each sequence.
        func contents() async throws -> [Int64] {
            try await database.withClient { client in
                try await client.query(
                    """
                    SELECT count(*) FROM log.recorded_events
                    UNION ALL SELECT last_value FROM log.user_ids UNION ALL SELECT last_value FROM log.event_ids
                    """
                ).decode(Int64.self)
            }
        }
    }

    private static func withPlace(_ body: @Sendable (Place) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory, environment in
            try await body(Place(directory: directory, database: database, environment: environment))
        }
    }

    @Test func `the demo writes into an empty log, and into a log with only its own events`() async throws {
        try await Self.withPlace { place in
            var recorded: Int64 = 0
            for _ in 0..<2 {
                try await place.demo().succeeded()
                let now = try await place.contents()[0]
                #expect(now >= recorded + 3)
                recorded = now
            }
        }
    }

    @Test func `a log with other events is refused unless a person or --yes agrees`() async throws {
        try await Self.withPlace { place in
            try await place.signUp()
            let before = try await place.contents()
            let refused = try await place.demo()
            #expect(refused.status == 2)
            #expect(
                refused.error == """
                    The log of this database holds recorded events that do not come from the demo, the first at position 1. \
                    The demo's events will stay in it for ever: they cannot be removed. \
                    Nothing was changed. Use another database by --database, DATABASE_URL or HUMON_DATA. \
                    To go on without a terminal, give --yes.

                    """)
            #expect(refused.output.isEmpty)
            #expect(try await place.contents() == before)

            // At a terminal the demo asks, and obeys the answer.
            for answer in ["n", "", "yesterday"] {
                let refused = try await place.demo(typing: answer)
                #expect(refused.status == 2)
                #expect(refused.output.contains("they cannot be removed. Go on? [y/N] "), "\(refused.output)")
                #expect(refused.output.contains("Nothing was changed."))
                #expect(try await place.contents() == before)
            }
            try await place.demo(typing: "y").succeeded()
            let grown = try await place.contents()[0]
            #expect(grown > before[0])
            try await place.demo("--yes").succeeded()
            #expect(try await place.contents()[0] > grown)
        }
    }
}
