internal import Foundation
public import Logging
public import Postgres
internal import Synchronization

/// Numbers the histories of the log that this process has seen: one more after every loss of the log's end.
public struct LogGeneration: Sendable, Hashable, Comparable {
    var number: Int

    public init(number: Int = 0) { self.number = number }

    public static func < (left: LogGeneration, right: LogGeneration) -> Bool { left.number < right.number }
}

/// Notices that the log lost its end: an asynchronous fail-over, a restored volume or a crash without `fsync` takes recorded
/// events away, and their positions and numbers are given anew.
///
/// Whatever a process keeps of the log (users by token, numbers in stock, the log's tail, the memory of events) it keeps together
/// with the ``generation`` that it was made from, and drops it when the generation is another.
///
/// The evidence is recorded events that this process has seen, with their ids: those that it recorded itself, those that its
/// feeds have read, and the newest one at every check. A ``LogWatch`` checks every second whether they are still there. Losing
/// its end means that the log loses all positions behind one of them; so those are enough that were the last when they were seen.
public final class LogHistory: Sendable {
    private struct State: Sendable {
        /// By position. The first stood there at the last check.
        var places: [LogPlace] = []
        /// When the last check was begun that found everything; nil while there is a reason to doubt it.
        var confirmedAt: ContinuousClock.Instant?
        var doubts = 0
    }

    /// What was confirmed longer ago than this counts as unknown. Longer than some polls of a ``LogWatch``.
    static let confirmedForSeconds = 5.0
    /// As many places wait for a check at most; beyond that the generation changes, since nobody could tell any more.
    static let placeLimit = 10_000
    /// From as many places on a check is due before its time.
    private static let fewPlaces = 128

    /// An element whenever a check is due, for the one ``LogWatch`` that carries them out.
    let dueChecks: AsyncStream<Void>
    private let checkIsDue: AsyncStream<Void>.Continuation
    private let number = Atomic(0)
    private let state = Mutex(State())
    private let logger: Logger

    public init(logger: Logger) {
        self.logger = logger
        (dueChecks, checkIsDue) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The present one, as far as this process knows.
    public var generation: LogGeneration { LogGeneration(number: number.load(ordering: .acquiring)) }

    /// The present one; nil where the database has not confirmed it lately. Then nothing that is kept is to be used.
    public var confirmed: LogGeneration? {
        state.withLock { state in
            guard let confirmedAt = state.confirmedAt, .now - confirmedAt < .seconds(Self.confirmedForSeconds) else { return nil }
            return generation
        }
    }

    /// Takes a place of the log as evidence that is asked for at the next check.
    public func saw(_ place: LogPlace) {
        guard place.id != nil else { return }
        state.withLock { saw(place, &$0) }
    }

    /// Nothing that is kept is used until the next check, which is due now: a connection broke, for instance.
    func doubt() {
        state.withLock { state in
            state.confirmedAt = nil
            state.doubts += 1
        }
        checkIsDue.yield()
    }

    func askForCheck() { checkIsDue.yield() }

    /// Asks the database for everything that was seen.
    /// - Returns: the position of the last recorded event; 0 for an empty log
    /// - Throws: `PostgresError`, or `CancellationError`
    func check(_ client: PostgresClient) async throws -> Int64 {
        let start = ContinuousClock.now
        let (asked, doubts, before) = state.withLock { ($0.places, $0.doubts, generation) }
        let answers = try await client.run([
            "SELECT position, id FROM log.recorded_events WHERE position = ANY(\(asked.map(\.position)))", LogPlace.newest,
        ])
        let found = Set(try answers[0].decodePlaces())
        let newest = try answers[1].decodePlaces().first
        state.withLock { state in
            guard before == generation else { return }
            if !asked.allSatisfy(found.contains) { lose(&state) } else { state.places.removeFirst(asked.count) }
            if let newest { saw(newest, &state, isChecked: true) }
            if state.doubts == doubts { state.confirmedAt = start }
        }
        return newest?.position ?? 0
    }

    private func saw(_ place: LogPlace, _ state: inout State, isChecked: Bool = false) {
        if let known = state.places.first(where: { $0.position == place.position }), known != place { lose(&state) }
        if place.position > state.places.last?.position ?? 0 {
            state.places.append(place)
            if state.places.count > Self.placeLimit { lose(&state) }
            if state.places.count > Self.fewPlaces { checkIsDue.yield() }
        } else if isChecked, !state.places.contains(place) {
            // Others were seen since the check was asked: this one stands before them.
            state.places.insert(place, at: state.places.firstIndex { $0.position > place.position } ?? state.places.endIndex)
        }
    }

    private func lose(_ state: inout State) {
        state.places = []
        state.confirmedAt = nil
        number.add(1, ordering: .releasing)
        checkIsDue.yield()
        logger.critical("the log lost its end; what this process keeps of it is dropped")
    }
}

extension LogHistory: CommitListener {
    public func committed(_ commit: Commit) {
        let isBehind = state.withLock { state in
            let isTaken = state.places.contains { place in
                guard (commit.firstPosition...commit.through).contains(place.position) else { return false }
                return commit.occurrences[Int(place.position - commit.firstPosition)].id != place.id
            }
            // The log gives a position once.
            if isTaken { lose(&state) }
            let isBehind = commit.through < state.places.last?.position ?? 0
            saw(commit.end, &state)
            return isBehind
        }
        // Two transactions are under way at a time, so this may be as it should be.
        if isBehind { checkIsDue.yield() }
    }
}

extension LogPlace {
    /// The last of the log; no row for an empty log. Sent behind another statement it is not before anything that that one has seen.
    public static let newest: SQL = "SELECT position, id FROM log.recorded_events ORDER BY position DESC LIMIT 1"
}

extension Rows {
    /// - Throws: `PostgresError`
    fileprivate func decodePlaces() throws -> [LogPlace] {
        try decode((Int64, UUID).self).map { LogPlace(position: $0, id: $1) }
    }
}
