import Encoding
import Foundation
import Testing

@testable import EventStore
@testable import Events

@Suite struct `Reordering segments of the log` {
    @Test func `segments are joined once the segments before them have arrived`() throws {
        var buffer = ReorderBuffer(after: cursor(0))
        expectWaiting(segment(3...4), in: &buffer)
        expectWaiting(segment(7...9), in: &buffer)
        expectWaiting(segment(5...6), in: &buffer)
        let found = buffer.join(segment(1...2))
        let joined = try #require(found)
        #expect((joined.after, joined.through) == (0, 9))
        #expect(versions(joined, after: 0) == Array(1...9))
        let next = buffer.join(segment(10...10))
        #expect(next.map { versions($0, after: 9) } == [10])
    }

    @Test func `overlapping segments are joined without repetition`() throws {
        var buffer = ReorderBuffer(after: cursor(2))
        expectWaiting(segment(4...6), in: &buffer)
        expectWaiting(segment(5...5), in: &buffer)
        let found = buffer.join(segment(1...5))
        let joined = try #require(found)
        #expect((joined.after, joined.through) == (0, 6))
        #expect(versions(joined, after: 2) == [3, 4, 5, 6])
    }

    @Test func `known segments and those before the buffer opens are dropped`() {
        var buffer = ReorderBuffer()
        expectWaiting(segment(1...2), in: &buffer)
        buffer = ReorderBuffer(after: cursor(2))
        expectWaiting(segment(1...2), in: &buffer)
        let next = buffer.join(segment(3...3))
        #expect(next?.through == 3)
    }

    @Test func `a segment disagrees if it has another recorded event at a position that was joined`() {
        var buffer = ReorderBuffer(after: LogCursor(position: 2, mark: 1))
        let (first, second) = (segment(3...6), segment(7...8))
        #expect(buffer.join(first) != nil)
        #expect(buffer.agrees(with: first))
        #expect(buffer.agrees(with: second))
        for positions in [2...2, 4...4, 5...6, 6...9] as [ClosedRange<Int64>] {
            #expect(!buffer.agrees(with: segment(positions)), "positions \(positions)")
        }
        // The ids of positions that were only loaded are not known, and those beyond the joined ones are new.
        #expect(buffer.agrees(with: segment(1...1)))
        #expect(buffer.agrees(with: segment(7...7)))
    }

    private func expectWaiting(_ segment: LogSegment, in buffer: inout ReorderBuffer) {
        let joined = buffer.join(segment)
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

    private func versions(_ segment: LogSegment, after position: Int64) -> [Int32] {
        segment.events(after: position).map(\.envelope.version)
    }
}
