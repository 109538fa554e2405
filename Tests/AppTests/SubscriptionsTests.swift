import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.database, .directory) struct `humon subscriptions` {
    @Test func `the commands list subscriptions and parked streams, and mark streams for a retry`() async throws {
        let environment = ["DATABASE_URL": database.url]
        @Sendable func humon(_ arguments: String...) async throws -> HumonProcess.Result {
            try await HumonProcess.run(["subscriptions"] + arguments, in: directory, environment: environment)
        }
        let none = try await humon("list")
        #expect((none.status, none.output) == (0, "This log has no subscription yet.\n"), "\(none.error)")
        try await database.withClient { client in
            _ = try await client.run([
                "INSERT INTO log.subscriptions VALUES ('feed', 6), ('mail', 3), ('feed', 7)",
                """
                INSERT INTO log.parked_streams VALUES
                    ('feed', 'event-1', 2, 5, 'thirteen', '2026-11-21 16:43:36.123Z'),
                    ('feed', 'event-2', 1, 6, 'fourteen', now())
                """,
            ])
        }
        let list = try await database.withClient { client in
            try await client.withTransaction { leader in
                try await leader.query(
                    "SELECT set_config('application_name', 'humon here:80', true), pg_advisory_xact_lock(x'68756d73'::integer, hashtext('feed'))"
                )
                return try await humon("list", "--json")
            }
        }
        #expect(
            list.output == """
                {"subscription":"feed","position":7,"lag":0,"leader":"humon here:80","parked_streams":2}
                {"subscription":"mail","position":3,"lag":0,"leader":null,"parked_streams":0}

                """)
        let parked = try await humon("parked", "feed")
        #expect(parked.output.contains(/event-1 +2 +5 +2026-11-21 16:43:36.123Z +false +thirteen\n/))
        let one = try await humon("retry", "feed", "event-1")
        #expect((one.status, one.output) == (0, "subscription   feed\nto be retried  1\n"), "\(one.error)")
        #expect(one.error.contains("The node that leads feed"))
        let marked = try await humon("parked", "feed")
        #expect(marked.output.contains(/event-1 .* true +thirteen\n/))
        let all = try await humon("retry", "feed", "--json")
        #expect(all.output == #"{"subscription":"feed","to_be_retried":2}"# + "\n")

        for (arguments, sentence) in [
            (["parked", "fed"], "The subscription fed never ran; the subscriptions are: feed, mail."),
            (["retry", "fed"], "The subscription fed never ran"),
            (["retry", "feed", "event-9"], "event-9 is not parked by feed"),
        ] {
            let unknown = try await HumonProcess.run(
                ["subscriptions"] + arguments, in: directory, environment: environment)
            #expect(unknown.status == 2, "\(unknown.error)")
            #expect(unknown.error.contains(sentence))
        }
    }
}
