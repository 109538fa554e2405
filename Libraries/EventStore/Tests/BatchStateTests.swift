import Foundation
import TestChance
import Testing

@testable import EventStore
@testable import Postgres

/// What a step of the writer came to.
private enum Outcome: Sendable {
    case recorded
    /// The appends in conflict, and those that the log has.
    case found(conflicts: [Int] = [], repeated: [Int] = [])
    case waited
    case failed(any Error)

    static func refused(_ state: SQLState) -> Outcome { .failed(refusal(state)) }

    static let lost = failed(PostgresError.connectionLost(mayHaveRun: true))
    static let notSent = failed(PostgresError.connectionLost(mayHaveRun: false))
}

private func refusal(_ state: SQLState) -> PostgresError {
    .refused(PostgresError.ServerError(sqlState: state, unredactedMessage: ""))
}

extension SQLState {
    fileprivate static let checkViolation = SQLState(rawValue: "23514")
}

extension BatchState {
    /// - Parameter now: the time of the outcome
    fileprivate mutating func apply(_ outcome: Outcome, at now: ContinuousClock.Instant) {
        switch outcome {
        case .recorded:
            guard case .record(let round, _) = step else { return }
            recorded(
                round.map { .appended(RecordedPlace(position: Int64($0), stream: StreamName("counter-a"), version: 1)) }, at: now)
        case .found(let conflicts, let repeated):
            var answers: [Int: AppendResult] = [:]
            for index in conflicts {
                answers[index] = .conflict(VersionConflict(stream: StreamName("counter-a"), expected: 0, actual: 1))
            }
            for index in repeated {
                answers[index] = .repeated(RecordedPlace(position: 7, stream: StreamName("counter-a"), version: 1))
            }
            found(answers, at: now)
        case .waited: waited()
        case .failed(let error): failed(error, at: now)
        }
    }

    /// The results in words.
    fileprivate var answers: [String] {
        results.map { result in
            switch result {
            case .success(.appended): "appended"
            case .success(.repeated): "repeated"
            case .success: "refused"
            case .failure(let error as PostgresError): error.mayHaveRun ? "unknown" : error.sqlState?.rawValue ?? "not sent"
            case .failure(EventLogError.expired): "expired"
            case .failure(EventLogError.lockHeld): "lock held"
            case .failure(ReadModelError.missing): "missing"
            case .failure(ReadModelError.unreadable): "unreadable"
            case .failure(let error): "\(error)"
            }
        }
    }
}

@Suite struct `The states of a batch` {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The streams of the appends. Of two with one stream, the later one can be decided only after the earlier one.
        var streams = ["a", "b"]
        /// Each outcome, the seconds since the begin, and the next step.
        fileprivate var outcomes: [(outcome: Outcome, seconds: Int, next: BatchState.Step?)]
        /// Once all are answered.
        var answers: [String]
    }

    private static let both = BatchState.Step.record([0, 1], isBehind: false)
    private static let lookUpBoth = BatchState.Step.lookUp([0, 1])
    private static func alone(_ index: Int) -> BatchState.Step { .record([index], isBehind: false) }

    static let rows = [
        Row(
            testDescription: "recorded: all have their answer", outcomes: [(.recorded, 0, nil)],
            answers: ["appended", "appended"]),
        Row(
            testDescription: "recorded: what depended on it is looked up, and sent if nothing is found",
            streams: ["a", "a", "a"],
            outcomes: [
                (.recorded, 0, .lookUp([1, 2])), (.found(conflicts: [1]), 0, alone(2)), (.recorded, 0, nil),
            ], answers: ["appended", "refused", "appended"]),
        Row(
            testDescription: "an id, a version or a condition is refused: the others are sent again",
            outcomes: [(.refused(.otherVersion), 0, lookUpBoth), (.found(conflicts: [0]), 0, alone(1)), (.recorded, 0, nil)],
            answers: ["refused", "appended"]),
        Row(
            testDescription: "nothing explains a refusal three times: each is tried alone, and has its own answer",
            outcomes: [
                (.refused(.uniqueViolation), 0, lookUpBoth), (.found(), 0, both), (.refused(.uniqueViolation), 0, lookUpBoth),
                (.found(), 0, both), (.refused(.uniqueViolation), 0, lookUpBoth), (.found(), 0, alone(0)),
                (.refused(.uniqueViolation), 0, .lookUp([0])), (.found(), 0, alone(0)),
                (.refused(.uniqueViolation), 0, .lookUp([0])), (.found(), 0, alone(0)),
                (.refused(.uniqueViolation), 0, .lookUp([0])), (.found(), 0, alone(1)), (.recorded, 0, nil),
            ], answers: ["23505", "appended"]),
        Row(
            testDescription: "another version of the program has appended: the read models are brought along, once",
            outcomes: [
                (.refused(.readModelOutOfStep), 0, .record([0, 1], isBehind: true)), (.refused(.readModelOutOfStep), 0, nil),
            ], answers: ["missing", "missing"]),
        Row(
            testDescription: "the connection broke: what is recorded is found, and the rest sent again",
            outcomes: [
                (.lost, 0, .wait), (.waited, 0, both), (.refused(.uniqueViolation), 1, lookUpBoth), (.lost, 2, .wait),
                (.waited, 2, lookUpBoth), (.found(repeated: [0]), 3, alone(1)), (.recorded, 3, nil),
            ], answers: ["repeated", "appended"]),
        Row(
            testDescription: "the database stays away for five seconds: nobody hears of a failure that may be none",
            outcomes: [(.lost, 0, .wait), (.waited, 4, both), (.notSent, 4, .wait), (.waited, 5, both), (.notSent, 5, nil)],
            answers: ["unknown", "unknown"]),
        Row(
            testDescription: "nothing was sent: that is what the callers hear", outcomes: [(.notSent, 0, nil)],
            answers: ["not sent", "not sent"]),
        Row(
            testDescription: "only what was sent may be recorded", streams: ["a", "a"],
            outcomes: [(.lost, 0, .wait), (.waited, 5, alone(0)), (.notSent, 6, nil)], answers: ["unknown", "not sent"]),
        Row(
            testDescription: "PostgreSQL refuses one of several: they are tried one by one",
            outcomes: [
                (.refused(.checkViolation), 0, alone(0)), (.refused(.checkViolation), 0, alone(1)), (.recorded, 0, nil),
            ], answers: ["23514", "appended"]),
        Row(
            testDescription: "a lookup is refused: that concerns all",
            outcomes: [(.refused(.conditionFails), 0, lookUpBoth), (.refused(.insufficientPrivilege), 0, nil)],
            answers: ["42501", "42501"]),
        Row(
            testDescription: "a lock is held", outcomes: [(.refused(.lockNotAvailable), 0, nil)],
            answers: ["lock held", "lock held"]),
        Row(
            testDescription: "a recorded event cannot be read", outcomes: [(.failed(FormatError("no name")), 0, nil)],
            answers: ["unreadable", "unreadable"]),
        Row(
            testDescription: "after a cancellation nobody knows", outcomes: [(.failed(CancellationError()), 0, nil)],
            answers: ["unknown", "unknown"]),
        Row(
            testDescription: "after five seconds nothing is sent again that was refused",
            outcomes: [(.refused(.otherVersion), 4, lookUpBoth), (.found(conflicts: [1]), 5, nil)],
            answers: ["expired", "refused"]),
        Row(
            testDescription: "what may be recorded does not expire",
            outcomes: [
                (.lost, 4, .wait), (.waited, 4, both), (.refused(.uniqueViolation), 6, lookUpBoth),
                (.found(repeated: [1]), 6, alone(0)),
                (.recorded, 6, nil),
            ], answers: ["appended", "repeated"]),
    ]

    @Test(arguments: rows) func `lead from each outcome to the next step, and to one answer for each append`(row: Row) {
        let begin = ContinuousClock.now
        var state = BatchState(row.streams.map { AppendRequest.counting($0, after: 0) }, at: begin)
        for (outcome, seconds, next) in row.outcomes {
            #expect(state.step != nil)
            state.apply(outcome, at: begin + .seconds(seconds))
            #expect(state.step == next)
        }
        #expect(state.answers == row.answers)
    }

    @Test func `in any order, each append is answered once and truly, and none fails that may be recorded`() {
        var kinds: Set<String> = []
        for seed in 1...2_000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let batch = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                AppendRequest.counting(
                    ["a", "b", "c"].randomElement(using: &generator) ?? "a", after: Int32.random(in: 0...1, using: &generator))
            }
            var world = World(batch: batch)
            var state = BatchState(batch, at: world.now)
            var steps = 0
            while let step = state.step, steps < 1_000 {
                world.carry(step, out: &state, using: &generator)
                steps += 1
            }
            #expect(steps < 1_000 && state.results.count == batch.count, "seed \(seed)")
            for (append, (result, answer)) in zip(batch, zip(state.results, state.answers)) {
                kinds.insert(answer)
                switch result {
                case .success(.appended(let place)), .success(.repeated(let place)):
                    #expect(world.places[append.id] == place, "seed \(seed)")
                case .success: #expect(world.places[append.id] == nil, "seed \(seed)")
                case .failure: #expect(answer == "unknown" || world.places[append.id] == nil, "seed \(seed): \(answer)")
                }
            }
        }
        let all: Set = ["appended", "repeated", "refused", "unknown", "expired", "missing", "23514", "not sent", "lock held"]
        #expect(kinds == all)
    }
}

/// A log in memory, with a connection that breaks and other writers.
private struct World {
    let batch: [AppendRequest]
    var now = ContinuousClock.now
    private(set) var places: [UUID: RecordedPlace] = [:]
    private var versions: [StreamName: Int32] = [:]

    init(batch: [AppendRequest]) { self.batch = batch }

    mutating func carry(_ step: BatchState.Step, out state: inout BatchState, using generator: inout SeededGenerator) {
        now += .milliseconds(Int.random(in: 0...900, using: &generator))
        switch step {
        case .wait: state.waited()
        case .record(let round, _):
            if Int.random(in: 0..<8, using: &generator) == 0 { versions[StreamName("counter-a"), default: 0] += 1 }
            let streams = round.map { batch[$0].streams[0] }
            let isNew = round.allSatisfy { places[batch[$0].id] == nil }
            guard isNew, streams.allSatisfy({ versions[$0.stream, default: 0] == $0.expectedVersion }) else {
                return state.failed(refusal(isNew ? .otherVersion : .uniqueViolation), at: now)
            }
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8: state.recorded(record(round).map { .appended($0) }, at: now)
            case 8..<11:
                _ = record(round)
                state.failed(PostgresError.connectionLost(mayHaveRun: true), at: now)
            case 11..<13: state.failed(PostgresError.connectionLost(mayHaveRun: true), at: now)
            case 13: state.failed(PostgresError.connectionLost(mayHaveRun: false), at: now)
            case 14: state.failed(refusal(.readModelOutOfStep), at: now)
            case 15: state.failed(refusal(.lockNotAvailable), at: now)
            case 16: state.failed(CancellationError(), at: now)
            case 17: state.failed(refusal(.otherVersion), at: now)
            default: state.failed(refusal(.checkViolation), at: now)
            }
        case .lookUp(let asked):
            if Int.random(in: 0..<8, using: &generator) == 0 {
                return state.failed(PostgresError.connectionLost(mayHaveRun: Bool.random(using: &generator)), at: now)
            }
            var answers: [Int: AppendResult] = [:]
            for index in asked {
                let stream = batch[index].streams[0]
                let actual = versions[stream.stream, default: 0]
                if let place = places[batch[index].id] {
                    answers[index] = .repeated(place)
                } else if actual != stream.expectedVersion {
                    answers[index] = .conflict(
                        VersionConflict(stream: stream.stream, expected: stream.expectedVersion, actual: actual))
                }
            }
            state.found(answers, at: now)
        }
    }

    private mutating func record(_ round: [Int]) -> [RecordedPlace] {
        round.map { index in
            let stream = batch[index].streams[0].stream
            versions[stream, default: 0] += 1
            let place = RecordedPlace(position: Int64(places.count + 1), stream: stream, version: versions[stream, default: 0])
            places[batch[index].id] = place
            return place
        }
    }
}
