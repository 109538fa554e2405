import Encoding
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore
@testable import Events

@Suite struct `Keeping events in memory` {
    /// A recorded event that the log of a test does not have.
    private static var elsewhere: EventEnvelope<any DomainEvent> {
        EventEnvelope(
            id: UUID(), stream: EventID(rawValue: 9).stream, version: 1, recordedAt: Timestamp(milliseconds: 0),
            metadata: Metadata(requestID: "test", actor: nil, traceID: nil), event: EventDomainEvent.updated(.picnic))
    }

    @Test(.node(listens: false)) func `own commits are in the content when their appends return`() async throws {
        let stream = EventID(rawValue: 1).stream
        for version: Int32 in 0..<10 {
            let place = try await node.append(EventDomainEvent.updated(.picnic), to: stream, after: version)
            #expect(node.index.state.position == place.position)
        }
        #expect(await node.index.reaches(10))
    }

    @Test func `requests may not read a content that was last confirmed longer ago than the longest age`() {
        let state = InMemoryState(staleAfter: .seconds(3), longestAge: .zero)
        state.use()
        #expect(!state.isInUse)
        state.isInStep(at: .now + .seconds(3_600))
        #expect(state.isInUse)
        #expect(InMemoryState.longestAge == .seconds(3_600))
    }

    @Test(.database) func `a content that meets a gap in the log stays in use, and is not loaded behind the gap`() async throws {
        try await TestNode.with(database, listens: false) { deaf in
            try await deaf.create()
            try await TestNode.with(database) { first in for _ in 0..<2 { try await first.create() } }
            try await database.withClient { client in
                try await client.withConnection { connection in
                    try await connection.execute(
                        script: """
                            ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change;
                            DELETE FROM log.recorded_events WHERE position = 2;
                            ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;
                            """)
                }
            }
            // The node's own commit wakes the reader of the log.
            let id = try await deaf.create().id
            #expect(deaf.index.state.isInUse)
            #expect((deaf.index.state.position, deaf.index.content.count) == (1, 1))
            // The tables have the event behind the gap, and no read shows it.
            await #expect(throws: PositionNotReachedError(position: 4)) { try await deaf.module.readEvent(id) }
            #expect(try await deaf.module.view().end.position == 1)
        }
    }

    @Test(.database) func `a content of a history that the log lost goes out of use at once, and is loaded again`() async throws {
        let recorder = Recorder()
        try await TestNode.with(database, listener: recorder) { node in
            let position = try await node.create().position
            let mark = try #require(node.index.endings.mark)
            // As if this process had appended another recorded event at the position.
            let history = node.log.history
            for commit in Commit.all(of: [(position: position, envelope: Self.elsewhere)]) {
                for listener in [history, node.index] as [any CommitListener] { listener.committed(commit) }
            }
            #expect(history.generation != LogGeneration())
            #expect(recorder.counts[1] > 0)
            // Endings may have been missed since.
            let isEnded = Mutex(false)
            _ = node.index.endings.onEnd(of: .ann, since: mark) { isEnded.withLock { $0 = true } }
            #expect(isEnded.withLock { $0 })
            try await eventually("an index of the present history") {
                node.index.state.isInUse && node.index.writer.withLock { $0.generation } == history.generation
            }
            #expect(node.index.content.count == 1)
        }
    }
}
