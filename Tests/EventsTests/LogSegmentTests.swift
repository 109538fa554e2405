import Encoding
import EventStore
import Foundation
import Testing

@testable import Events

@Suite struct `Stretches of the log that come in any order` {
    @Test func `join on to each other once what stands before them is there`() throws {
        var line = ReorderBuffer()
        line.open(at: place(0))
        waits(stretch(3...4), in: &line)
        waits(stretch(7...9), in: &line)
        waits(stretch(5...6), in: &line)
        let found = line.join(stretch(1...2))
        let joined = try #require(found)
        #expect((joined.after, joined.through) == (0, 9))
        #expect(versions(joined, after: 0) == Array(1...9))
        let next = line.join(stretch(10...10))
        #expect(next.map { versions($0, after: 9) } == [10])
    }

    @Test func `that overlap say everything once`() throws {
        var line = ReorderBuffer()
        line.open(at: place(2))
        waits(stretch(4...6), in: &line)
        waits(stretch(5...5), in: &line)
        let found = line.join(stretch(1...5))
        let joined = try #require(found)
        #expect((joined.after, joined.through) == (0, 6))
        #expect(versions(joined, after: 2) == [3, 4, 5, 6])
    }

    @Test func `that say nothing new are left out, and so is everything before the line opens`() {
        var line = ReorderBuffer()
        waits(stretch(1...2), in: &line)
        line.open(at: place(2))
        waits(stretch(1...2), in: &line)
        let next = line.join(stretch(3...3))
        #expect(next?.through == 3)
        line.close()
        waits(stretch(1...2), in: &line)
    }

    private func waits(_ stretch: LogSegment, in line: inout ReorderBuffer) {
        let joined = line.join(stretch)
        #expect(joined == nil)
    }

    /// One event, changed at every position; its version is the position.
    private func stretch(_ positions: ClosedRange<Int64>) -> LogSegment {
        LogSegment(
            after: positions.lowerBound - 1, end: place(positions.upperBound),
            events: positions.map { position in
                let envelope = EventEnvelope(
                    id: UUID(), stream: EventID(rawValue: 1).stream, version: Int32(position),
                    recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "test", actor: nil, traceID: nil),
                    event: EventDomainEvent.updated(EventUpdated(details: .picnic)))
                return (position, envelope)
            })
    }

    private func place(_ position: Int64) -> LogCursor { LogCursor(position: position, id: nil) }

    private func versions(_ stretch: LogSegment, after position: Int64) -> [Int32] {
        stretch.envelopes(after: position).map(\.version)
    }
}

@Suite struct `Who waits for a position` {
    @Test func `goes on when it is reached, and not before`() async throws {
        let arrivals = PositionWaiters()
        #expect(await arrivals.wait(for: 5, seconds: 0) { 5 })
        async let waiting = arrivals.wait(for: 5, seconds: 60) { 3 }
        try await Task.sleep(for: .milliseconds(20))
        arrivals.reached(4)
        arrivals.reached(5)
        #expect(await waiting)
    }

    @Test func `gives up after its time, and when it is cancelled`() async {
        let arrivals = PositionWaiters()
        #expect(await arrivals.wait(for: 5, seconds: 0.01) { 3 } == false)
        let waiting = Task { await arrivals.wait(for: 5, seconds: 60) { 3 } }
        waiting.cancel()
        #expect(await waiting.value == false)
    }
}
