import Postgres
import Telemetry
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Reading a page of the log` {
    /// Two statements could see two logs, if the log lost its end between them.
    @Test func `one statement reads a page with the event before it`() async throws {
        let filters: [LogFilter] = [
            .everything, LogFilter(categories: ["counter"], types: ["Counted"]), LogFilter(types: ["none"]),
        ]
        try await store.count(7)
        let cursors = try await store.reader.read(after: 0, limit: 7).map { LogCursor(position: $0.position, of: $0.envelope) }
        let behind = try await store.reader.page(after: 9, limit: 3, filter: .everything)
        #expect((behind.after, behind.end) == (LogCursor(position: 9), LogCursor(position: 9)))
        for filter in filters {
            try await store.database.withClient(role: "log_app") { client in
                let reader = LogReader(client: client)
                for (after, limit, through) in [(Int64(0), Int64(3), Int64(3)), (3, 3, 6), (6, 3, 7), (7, 3, 7)] {
                    let before = client.statistics.queries.snapshot.counts.reduce(0, +)
                    let page = try await reader.page(after: after, limit: limit, filter: filter)
                    #expect(client.statistics.queries.snapshot.counts.reduce(0, +) == before + 1, "\(filter) after \(after)")
                    #expect(
                        page.after == (after == 0 ? LogCursor(position: 0) : cursors[Int(after) - 1]),
                        "\(filter) after \(after)")
                    #expect(page.end == cursors[Int(through) - 1], "\(filter) after \(after)")
                    #expect((page.endOfLogAt == nil) == (through - after == limit), "\(filter) after \(after)")
                    let selected = filter.types == ["none"] ? [] : Array(after..<through).map { $0 + 1 }
                    #expect(page.events.map(\.position) == selected, "\(filter) after \(after)")
                }
            }
        }
    }
}
