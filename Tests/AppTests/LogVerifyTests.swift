import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.emptyDatabase, .directory) struct `humon log verify` {
    @Test func `a verification reads the whole log and reports all violations`() async throws {
        let environment = ["DATABASE_URL": database.url]
        try await HumonProcess.run(["demo", "--events", "20"], in: directory, environment: environment).succeeded()
        let well = try await HumonProcess.run(["log", "verify"], in: directory, environment: environment).succeeded()
        #expect(well.output.contains(/positions  ok     contiguous up to \d+\n/))
        #expect(well.output.contains("sequences  ok     beyond every number in use\n"))
        #expect(well.output.contains(/event +EventCreated +1 +20\n/))

        let tail = try await database.withClient { client in
            let tail = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
            try await client.run([
                """
                INSERT INTO log.recorded_events
                VALUES (\(tail + 1), gen_random_uuid(), 'event-999', 1, 'EventCreated', 2, now(), '{}', '{"request_id":"r","actor":1,"trace_id":null}')
                """,
                "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                "DELETE FROM log.recorded_events WHERE position = 7",
            ])
            return tail
        }
        let ill = try await HumonProcess.run(["log", "verify"], in: directory, environment: environment)
        #expect(ill.status == 2, "\(ill.error)")
        #expect(ill.output.contains(/positions +1 +7 +position 7 is missing\n/))
        #expect(
            ill.output.contains(
                /events +1 +\d+ +EventCreated +2 +EventCreated has formats 1 to 1, not 2: written by a newer program\n/))
        #expect(ill.output.contains(/sequences +1 +log.event_ids is at \d+, but event-999 is in use\n/))
        let exported = try await HumonProcess.run(["log", "export", "log.zst"], in: directory, environment: environment)
        #expect((exported.status, exported.error.contains("a hole after position 6")) == (1, true), "\(exported.error)")
        let json = try await HumonProcess.run(["log", "verify", "--json"], in: directory, environment: environment)
        #expect(json.status == 2)
        let lines = json.output.split(separator: "\n")
        #expect(lines.first == #"{"check":"positions","state":"bad","result":"1 violation"}"#)
        #expect(
            lines.contains(
                #"{"violation":"positions","count":1,"first_position":7,"type":null,"format":null,"reason":"position 7 is missing"}"#
            ))
        #expect(lines.contains { $0.contains(#""first_position":\#(tail + 1),"type":"EventCreated","format":2"#) })
    }
}
