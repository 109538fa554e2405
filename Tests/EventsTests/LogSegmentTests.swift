import Encoding
import Foundation
import Testing

@testable import EventStore
@testable import Events

@Suite struct `Reordering segments of the log` {
    @Test func `segments are joined once the segments before them have arrived`() throws {
        var writer = Self.writer(at: 0)
        for positions in [3...4, 7...9, 5...6] as [ClosedRange<Int64>] { expectWaiting(segment(positions), in: &writer) }
        let found = writer.join(segment(1...2))
        let joined = try #require(found)
        #expect((joined.after, joined.end) == (0, cursor(9)))
        #expect(versions(joined) == Array(1...9))
        let next = writer.join(segment(10...10))
        #expect(next.map(versions) == [10])
        #expect(writer.waiting.isEmpty)
    }

    @Test func `overlapping segments are joined without repetition`() throws {
        var writer = Self.writer(at: 2)
        for positions in [4...6, 5...5] as [ClosedRange<Int64>] { expectWaiting(segment(positions), in: &writer) }
        let found = writer.join(segment(1...5))
        let joined = try #require(found)
        #expect((joined.after, joined.end) == (2, cursor(6)))
        #expect(versions(joined) == [3, 4, 5, 6])
    }

    @Test func `known segments, and those before a load is over, are dropped`() {
        var writer = InMemoryReadModel.Writer()
        expectWaiting(segment(1...2), in: &writer)
        writer = Self.writer(at: 2)
        expectWaiting(segment(1...2), in: &writer)
        #expect(writer.waiting.isEmpty)
        let next = writer.join(segment(3...3))
        #expect(next?.end == cursor(3))
    }

    @Test func `at most 1,000 segments wait, and the first ones stay`() {
        var writer = Self.writer(at: 0)
        for position in Int64(2)...1_003 { expectWaiting(segment(position...position), in: &writer) }
        let joined = writer.join(segment(1...1))
        #expect(joined?.end == cursor(1_001))
    }

    private static func writer(at position: Int64) -> InMemoryReadModel.Writer {
        InMemoryReadModel.Writer(end: LogCursor(position: position))
    }

    private func expectWaiting(_ segment: LogSegment, in writer: inout InMemoryReadModel.Writer) {
        let joined = writer.join(segment)
        #expect(joined == nil)
    }

    /// One event that changes at every position; its version is the position.
    private func segment(_ positions: ClosedRange<Int64>) -> LogSegment {
        LogSegment(
            after: positions.lowerBound - 1, end: cursor(positions.upperBound),
            events: positions.map { position in
                let envelope = EventEnvelope<EventDomainEvent>(
                    id: UUID(), stream: EventID(rawValue: 1).stream, version: Int32(position),
                    recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "test", actor: nil, traceID: nil),
                    event: EventDomainEvent.updated(.picnic))
                return (position, envelope)
            })
    }

    private func cursor(_ position: Int64) -> LogCursor { LogCursor(position: position) }

    private func versions(_ segment: LogSegment) -> [Int32] { segment.events.map(\.envelope.version) }
}
