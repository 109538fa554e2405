import Logging
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.diary) struct `Stopping a subscription at a gap` {
    @Test func `a subscription at a gap logs it once, and retries at growing intervals`() async throws {
        try await store.count(1...5)
        _ = try await store.database.withClient { client in
            try await client.run([
                "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                "CREATE TABLE public.lost AS SELECT * FROM log.recorded_events WHERE position = 3",
                "DELETE FROM log.recorded_events WHERE position = 3",
            ])
        }
        let messages = Messages()
        let timing = {
            var timing = SubscriptionRunner.Timing.test
            timing.claimSeconds = 0.01
            timing.longestStandstillSeconds = 0.2
            return timing
        }()
        try await store.database.withClient(role: "log_app", connections: 3) { client in
            try await TestStore.withNotifier(client, pollSeconds: 0.05) { notifier in
                let service = SubscriptionRunner(
                    Diary(), client: client, notifier: notifier, timing: timing, logger: messages.logger)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await service.run() }
                    defer { group.cancelAll() }
                    try await eventually("many attempts") { messages[.debug].filter { $0 == "leading" }.count >= 8 }
                    #expect(messages[.critical] == ["a subscription stands still"])
                    _ = try await store.database.withClient {
                        try await $0.query("INSERT INTO log.recorded_events SELECT * FROM public.lost")
                    }
                    try await store.reaches(5)
                }
            }
        }
        #expect(messages[.critical].count == 1)
        #expect(try await store.entries() == [1, 2, 3, 4, 5])
    }
}
