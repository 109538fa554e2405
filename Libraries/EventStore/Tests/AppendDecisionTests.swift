import Encoding
import Foundation
import Testing

@testable import EventStore

@Suite struct `Deciding on a batch of appends` {
    @Test func `an empty batch gets no decisions`() {
        #expect(decisions(on: [], recorded: [:], versions: [:]) == [])
    }

    @Test func `a new stream and the next version of an existing stream are accepted`() {
        let batch = [append("a", to: tea1, expecting: 0), append("b", to: tea2, expecting: 3)]
        #expect(decisions(on: batch, recorded: [:], versions: [tea2: 3]) == [.accepted, .accepted])
    }

    @Test func `several appends to one stream are accepted in the order of their versions`() {
        let batch = [
            append("a", to: tea1, expecting: 0), append("b", to: tea1, expecting: 1), append("c", to: tea1, expecting: 2),
        ]
        #expect(decisions(on: batch, recorded: [:], versions: [:]) == [.accepted, .accepted, .accepted])
    }

    @Test func `an append with a recorded id gets the first result, whatever version it expects`() {
        let first = RecordedPlace(position: 7, stream: tea1, version: 1)
        let batch = [append("a", to: tea1, expecting: 0), append("a", to: tea9, expecting: 5)]
        let decisions = decisions(on: batch, recorded: [UUID(derivedFrom: "a"): first], versions: [tea1: 4])
        #expect(decisions == [.ended(.repeated(first)), .ended(.repeated(first))])
    }

    @Test func `a repeated id does not count as a new version`() {
        let first = RecordedPlace(position: 7, stream: tea1, version: 1)
        let batch = [append("a", to: tea1, expecting: 0), append("b", to: tea1, expecting: 1)]
        let decisions = decisions(on: batch, recorded: [UUID(derivedFrom: "a"): first], versions: [tea1: 1])
        #expect(decisions == [.ended(.repeated(first)), .accepted])
    }

    @Test func `an id that the batch repeats points to its accepted append`() {
        let batch = [
            append("x", to: tea9, expecting: 0), append("a", to: tea1, expecting: 0), append("a", to: tea1, expecting: 0),
            append("a", to: tea2, expecting: 0),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [:])
                == [.accepted, .accepted, .repeatsInBatch(index: 1), .repeatsInBatch(index: 1)]
        )
    }

    @Test func `an append whose condition fails is refused, and the others of the batch are decided without it`() {
        let (holds, fails) = (condition(tea1, "a"), condition(tea1, "b"))
        let batch = [
            append("c", to: tea2, expecting: 0, if: fails), append("d", to: tea2, expecting: 0, if: holds),
            append("e", to: tea2, expecting: 1),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [tea1: 1], failing: [fails])
                == [.ended(.failedCondition(fails)), .accepted, .accepted])
    }

    @Test func `an accepted append to a stream ends the conditions on it for the rest of the batch`() {
        let end = condition(tea1, "a")
        let batch = [
            append("c", to: tea2, expecting: 0, if: end), append("d", to: tea1, expecting: 1),
            append("e", to: tea9, expecting: 0, if: end),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [tea1: 1])
                == [.accepted, .accepted, .ended(.failedCondition(end))])
    }

    @Test func `a repeated append meets its condition too, unless an earlier attempt of the batch may have recorded it`() {
        let fails = condition(tea1, "b")
        let first = RecordedPlace(position: 7, stream: tea2, version: 1)
        let batch = [append("a", to: tea2, expecting: 0, if: fails)]
        let recorded = [UUID(derivedFrom: "a"): first]
        #expect(
            decisions(on: batch, recorded: recorded, versions: [:], failing: [fails]) == [.ended(.failedCondition(fails))])
        #expect(
            decisions(on: batch, recorded: recorded, versions: [:], failing: [fails], mayBeRecorded: true)
                == [.ended(.repeated(first))])
    }

    @Test func `appends are not independent if one changes the stream of another one's condition`() {
        let end = condition(tea1, "a")
        #expect([append("c", to: tea2, expecting: 0, if: end), append("d", to: tea9, expecting: 0, if: end)].areIndependent)
        #expect(![append("c", to: tea2, expecting: 0, if: end), append("d", to: tea1, expecting: 1)].areIndependent)
    }

    @Test func `an append that expects another version than the stream has is refused`() {
        let batch = [
            append("a", to: tea1, expecting: 0), append("b", to: tea1, expecting: 3), append("c", to: tea2, expecting: 1),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [tea1: 2]) == [
                .ended(.conflict(VersionConflict(stream: tea1, expected: 0, actual: 2))),
                .ended(.conflict(VersionConflict(stream: tea1, expected: 3, actual: 2))),
                .ended(.conflict(VersionConflict(stream: tea2, expected: 1, actual: 0))),
            ]
        )
    }

    @Test func `of two appends that expect the same version, the later one is refused`() {
        let batch = [append("a", to: tea1, expecting: 2), append("b", to: tea1, expecting: 2)]
        #expect(
            decisions(on: batch, recorded: [:], versions: [tea1: 2])
                == [.accepted, .ended(.conflict(VersionConflict(stream: tea1, expected: 2, actual: 3)))]
        )
    }

    @Test func `a refused append does not affect the others of its batch`() {
        let batch = [
            append("a", to: tea1, expecting: 0), append("b", to: tea1, expecting: 5), append("c", to: tea1, expecting: 1),
            append("d", to: tea2, expecting: 0),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [:])
                == [.accepted, .ended(.conflict(VersionConflict(stream: tea1, expected: 5, actual: 1))), .accepted, .accepted]
        )
    }

    @Test func `an id that was refused earlier in the batch is decided again`() {
        let batch = [
            append("a", to: tea1, expecting: 1), append("b", to: tea1, expecting: 0), append("a", to: tea1, expecting: 1),
        ]
        #expect(
            decisions(on: batch, recorded: [:], versions: [:])
                == [.ended(.conflict(VersionConflict(stream: tea1, expected: 1, actual: 0))), .accepted, .accepted]
        )
    }
}

@Suite struct `Deciding on appends of several events` {
    @Test func `the events of several streams are accepted together, and count as versions of each`() {
        let batch = [
            append("a", [two(tea1, expecting: 0), two(tea2, expecting: 3)]), append("b", to: tea1, expecting: 2),
            append("c", to: tea2, expecting: 5),
        ]
        #expect(decisions(on: batch, recorded: [:], versions: [tea2: 3]) == [.accepted, .accepted, .accepted])
    }

    @Test func `if one stream has another version, no stream of the append gets an event`() {
        let batch = [append("a", [two(tea1, expecting: 0), two(tea2, expecting: 2)]), append("b", to: tea1, expecting: 0)]
        let conflict = VersionConflict(stream: tea2, expected: 2, actual: 3)
        #expect(decisions(on: batch, recorded: [:], versions: [tea2: 3]) == [.ended(.conflict(conflict)), .accepted])
    }

    @Test func `the last event has the id of the append, and the ids of the others derive from it`() {
        let envelopes = append("a", [two(tea1, expecting: 0), two(tea2, expecting: 3)]).envelopes
        let id = UUID(derivedFrom: "a")
        #expect(envelopes.map(\.id) == (1...3).map { UUID(derivedFrom: "event \($0) of \(id)") } + [id])
        #expect(envelopes.map(\.version) == [1, 2, 4, 5])
        #expect(envelopes.map(\.stream) == [tea1, tea1, tea2, tea2])
    }

    @Test func `an append without events is accepted at the version of its stream, which it leaves as it is`() {
        let batch = [
            append("a", [none(tea1, expecting: 2)]), append("b", [none(tea1, expecting: 2)]),
            append("c", [none(tea1, expecting: 1)]),
        ]
        let conflict = VersionConflict(stream: tea1, expected: 1, actual: 2)
        #expect(decisions(on: batch, recorded: [:], versions: [tea1: 2]) == [.accepted, .accepted, .ended(.conflict(conflict))])
        #expect(batch.areIndependent)
        #expect(![append("a", [none(tea1, expecting: 2)]), append("b", to: tea1, expecting: 2)].areIndependent)
    }
}

@Suite struct `Deciding on commands with idempotency keys` {
    private static let request = RequestHash(of: "PUT /v1/events/1".utf8)
    private static let other = RequestHash(of: "PUT /v1/events/2".utf8)
    private static let first = RecordedPlace(position: 7, stream: tea1, version: 1)
    private static let known = [UUID(derivedFrom: "a"): IdempotencyRecord(requestHash: request, place: first)]

    private func command(_ requestHash: RequestHash?) -> AppendRequest {
        var append = append("a", to: tea1, expecting: 0)
        append.requestHash = requestHash
        return append
    }

    @Test func `a repeated request under a key gets the first result`() {
        #expect(
            decisions(on: [command(Self.request)], recorded: [:], records: Self.known, versions: [:]) == [
                .ended(.repeated(Self.first))
            ])
        let both = [UUID(derivedFrom: "a"): Self.first]
        #expect(
            decisions(on: [command(Self.request)], recorded: both, records: Self.known, versions: [:]) == [
                .ended(.repeated(Self.first))
            ])
    }

    @Test func `a different request under a used key is refused, and so is one without a request hash`() {
        #expect(
            decisions(on: [command(Self.other), command(nil)], recorded: [:], records: Self.known, versions: [:])
                == [.ended(.keyReused), .ended(.keyReused)]
        )
    }

    @Test func `different requests under one key in the same batch are told apart`() {
        let batch = [command(Self.request), command(Self.request), command(Self.other), command(nil)]
        #expect(
            decisions(on: batch, recorded: [:], versions: [:])
                == [.accepted, .repeatsInBatch(index: 0), .ended(.keyReused), .ended(.keyReused)]
        )
    }
}

@Suite struct `Splitting a batch` {
    @Test func `a batch is independent if no two appends share an id or a stream`() {
        #expect(([] as [AppendRequest]).areIndependent)
        #expect([append("a", to: tea1, expecting: 0), append("b", to: tea2, expecting: 0)].areIndependent)
        #expect(![append("a", to: tea1, expecting: 0), append("a", to: tea2, expecting: 0)].areIndependent)
        #expect(![append("a", to: tea1, expecting: 0), append("b", to: tea1, expecting: 1)].areIndependent)
    }
}

@Suite struct `Describing a version conflict` {
    @Test func `a version conflict names the current version of the stream`() {
        let conflict = VersionConflict(stream: tea1, expected: 2, actual: 3)
        #expect(conflict.description == "stream tea-1 has version 3, not 2")
    }
}

private let tea1 = StreamName("tea-1")
private let tea2 = StreamName("tea-2")
private let tea9 = StreamName("tea-9")

private func condition(_ stream: StreamName, _ last: String) -> AppendCondition {
    AppendCondition(stream: stream, lastID: UUID(derivedFrom: last))
}

private func append(
    _ id: String, to stream: StreamName, expecting version: Int32, if condition: AppendCondition? = nil
) -> AppendRequest {
    append(id, [StreamAppend([TeaDomainEvent.drunk], to: stream, after: version)], if: condition)
}

private func append(_ id: String, _ streams: [StreamAppend], if condition: AppendCondition? = nil) -> AppendRequest {
    AppendRequest(
        id: UUID(derivedFrom: id), streams: streams, conditions: condition.map { [$0] } ?? [],
        recordedAt: Timestamp(milliseconds: 0), metadata: Metadata(requestID: "request-1", actor: nil, traceID: nil))
}

/// Two domain events for a stream.
private func two(_ stream: StreamName, expecting version: Int32) -> StreamAppend {
    StreamAppend([TeaDomainEvent.drunk, TeaDomainEvent.drunk], to: stream, after: version)
}

private func none(_ stream: StreamName, expecting version: Int32) -> StreamAppend {
    StreamAppend([], to: stream, after: version)
}
