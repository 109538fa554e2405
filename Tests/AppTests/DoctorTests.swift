import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `The doctor` {
    @Test func `reads the whole log, and says what this program cannot read`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await HumonProcess.withDirectory { directory in
                let environment = ["DATABASE_URL": database.url]
                let demo = try await HumonProcess.run(["demo", "--events", "20"], in: directory, environment: environment)
                #expect(demo.status == 0, "\(demo.error)")
                let well = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
                #expect(well.status == 0, "\(well.error)")
                #expect(well.output.contains("EventCreated of category event, format 1: 20\n"))
                #expect(well.output.hasSuffix("This program reads them all.\n"))

                try await database.withClient { client in
                    let tail = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
                    try await client.query(
                        """
                        INSERT INTO log.recorded_events
                        VALUES (\(tail + 1), gen_random_uuid(), 'event-999', 1, 'EventCreated', 2, now(), '{}', '{"request_id":"r","actor":1,"trace_id":null}')
                        """
                    )
                }
                let ill = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
                #expect(ill.status == 1)
                #expect(ill.output.contains("1 × EventCreated of category event, format 2, the first at position"))
                #expect(ill.output.contains("written by a newer humon"))

                _ = try await database.withClient { client in
                    try await client.run([
                        "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                        "DELETE FROM log.recorded_events WHERE position = 7",
                    ])
                }
                let torn = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
                #expect(torn.status == 1)
                #expect(torn.error.contains("a hole after position 6"))
            }
        }
    }
}
