import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Committing without a synchronous standby` {
    private static func waiting(_ query: String) -> SQL {
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE \(query)"
    }

    /// PostgreSQL commits a transaction before it waits for its standbys. If the wait is broken off, it says so in a warning.
    @Test func `a commit that no standby is known to hold is not acknowledged`() async throws {
        try await TestDatabase.withCluster { database in
            try await database.withClient(connections: 2) { operators in
                try await database.withClient(role: "log_app", connections: 2) { client in
                    try await operators.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
                    try await operators.query("SELECT pg_reload_conf()")
                    try await eventually {
                        try await client.query("SHOW synchronous_standby_names").decode(String.self) == ["nobody"]
                    }
                    try await TestStore.withLog(client, projections: []) { log in
                        let isAcknowledged = Mutex(false)
                        let append = Task {
                            let result = try await log.record(.counting("a", after: 0))
                            isAcknowledged.withLock { $0 = true }
                            return result
                        }
                        let appending = Self.waiting("SELECT log.append(%")
                        try await eventually("the append to wait") { try await !operators.query(appending).isEmpty }
                        try await operators.query("SELECT pg_cancel_backend(pid) FROM (\(appending)) AS waiting")
                        // The writer looks for the append, and a commit of its own is to confirm it.
                        let confirming = Self.waiting("SELECT pg_logical_emit_message(%")
                        try await eventually("a commit that waits") { try await !operators.query(confirming).isEmpty }
                        #expect(try await operators.query("SELECT FROM log.recorded_events").count == 1)
                        let early = isAcknowledged.withLock(\.self)
                        #expect(!early)
                        try await operators.query("ALTER SYSTEM RESET synchronous_standby_names")
                        try await operators.query("SELECT pg_reload_conf()")
                        #expect(try await append.value.position == 1)
                    }
                }
            }
        }
    }
}
