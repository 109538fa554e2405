import Postgres
import TestDatabase
import Testing

@testable import FaultInjection

@Suite struct `Scheduling faults` {
    @Test func `equal seeds give equal schedules, and different seeds different ones`() {
        #expect(FaultInjectionSchedule(seed: 7) == FaultInjectionSchedule(seed: 7))
        #expect(FaultInjectionSchedule(seed: 7).faults != FaultInjectionSchedule(seed: 8).faults)
    }

    @Test func `the gate has six kinds of faults, and a long schedule a hundred kills and every kind`() {
        let (short, long) = (FaultInjectionSchedule.ofGate(seed: 1), FaultInjectionSchedule(seed: 1, faults: 180))
        #expect(short.kills == 4)
        #expect(Set(short.faults.map(\.kind)).count == 6)
        #expect(long.kills >= 100)
        #expect(Set(long.faults.map(\.kind)).count == 12)
    }
}

@Suite struct `Judging a run` {
    @Test func `a system that does not recover is found`() async {
        await #expect { try await wait(for: "a condition that stays false", withinSeconds: 0.02) { false } } throws: { error in
            (error as? Violation)?.check == .recovery
        }
    }

    @Test func `a restored log that differs by one character is found`() async throws {
        func digest(ofLogWith data: String) async throws -> String {
            try await TestDatabase.with { database in
                try await database.withClient { client in
                    try await client.query(
                        """
                        INSERT INTO log.recorded_events VALUES (1, '00000000-0000-0000-0000-000000000001', 'tea-1', 1, 'Brewed', 1,
                            '2013-09-16', \(data)::json, '{}')
                        """)
                    return try await LogRow.digest(client)
                }
            }
        }
        let first = try await digest(ofLogWith: #"{"cups":1}"#)
        #expect(try await digest(ofLogWith: #"{"cups":1}"#) == first)
        #expect(try await digest(ofLogWith: #"{"cups": 1}"#) != first)
    }
}
