import Testing

@testable import Postgres

@Suite struct `Summarising a query` {
    @Test(
        arguments: [
            ("SELECT 1", "SELECT 1"), ("SELECT log.tail()", "SELECT log.tail"), ("BEGIN", "BEGIN"),
            ("SELECT id FROM \"users_v2\".users WHERE device = $1", "SELECT users_v2"),
            ("INSERT INTO log.commands (id) VALUES ($1)", "INSERT log.commands"),
            ("\n  UPDATE events_v1.events AS e\n SET a = $1", "UPDATE events_v1.events"),
        ] as [(SQL, String)])
    func `a summary names the command and its table`(statement: SQL, expected: String) {
        #expect(QueryTracing.summary([statement]) == expected)
    }

    @Test func `all statements of a pipeline share one summary`() {
        #expect(QueryTracing.summary(["SELECT 1", "SELECT 2"]) == "BATCH")
    }
}
