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

/// Detects that the log lost its end. An asynchronous fail-over, a restored volume or a crash without `fsync` removes the last
/// recorded events, and PostgreSQL gives their positions and numbers again.
///
/// A process caches users by token, numbers in stock, the log's tail and the events in memory. It keeps each of them with the
/// ``generation`` that was current before the read, and drops it when the generation differs.
///
/// The evidence is places of the log: positions with the ids of their recorded events. They come from the process's own commits,
/// from the pages of its feeds, and from the last recorded event at every check. A ``LogNotifier`` asks PostgreSQL every second
/// whether they are still there. A loss removes all positions above one; so a place below one that is held already adds nothing.
///
/// Thread-safe: a lock protects the places, an atomic holds the generation.
public final class LogHistory: Sendable {
    private struct State: Sendable {
        /// In the order of positions. The last check found the first of them.
        var places: [LogPlace] = []
        /// The start of the last check that found all places; nil while there is a doubt.
        var confirmedAt: ContinuousClock.Instant?
        var doubts = 0
    }

    /// Seconds for which a check confirms the generation: some polls of a ``LogNotifier``.
    static let confirmedForSeconds = 5.0
    /// Maximum number of places between two checks. With more, the generation changes, since a loss could not be detected.
    static let placeLimit = 10_000
    /// Number of places above which a check is due before the next poll.
    private static let fewPlaces = 128

    /// An element whenever a check is due. One ``LogNotifier`` reads it.
    let dueChecks: AsyncStream<Void>
    private let checkIsDue: AsyncStream<Void>.Continuation
    private let number = Atomic(0)
    private let state = Mutex(State())
    private let logger: Logger

    public init(logger: Logger) {
        self.logger = logger
        (dueChecks, checkIsDue) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The current generation, as far as this process knows.
    public var generation: LogGeneration { LogGeneration(number: number.load(ordering: .acquiring)) }

    /// The current generation if the database confirmed it in the last 5 seconds; else nil, and no cached value may be used.
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

    /// Withdraws the confirmation until the next check, which is due now. For a broken connection, for instance.
    func doubt() {
        state.withLock { state in
            state.confirmedAt = nil
            state.doubts += 1
        }
        checkIsDue.yield()
    }

    func askForCheck() { checkIsDue.yield() }

    /// Asks the database for all places.
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
        if let last = state.places.last, last.position >= place.position,
            let index = state.places.firstIndex(where: { $0.position >= place.position })
        {
            if state.places[index] == place { return }
            if state.places[index].position != place.position {
                // The process saw later places while the check ran.
                if isChecked { state.places.insert(place, at: index) }
                return
            }
            lose(&state)
        }
        state.places.append(place)
        if state.places.count > Self.placeLimit { lose(&state) }
        if state.places.count > Self.fewPlaces { checkIsDue.yield() }
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
            var isBehind = commit.firstPosition <= state.places.last?.position ?? 0
            let isTaken =
                isBehind
                && state.places.contains { place in
                    guard (commit.firstPosition...commit.through).contains(place.position) else { return false }
                    return commit.envelopes[Int(place.position - commit.firstPosition)].id != place.id
                }
            // The log gives each position once, unless it lost its end.
            if isTaken {
                lose(&state)
                isBehind = false
            }
            saw(commit.end, &state)
            return isBehind
        }
        // Two transactions are in flight, so their commits may be told out of order. The check decides.
        if isBehind { checkIsDue.yield() }
    }
}

extension LogPlace {
    /// Selects the last place of the log; no row for an empty log. In a pipeline behind another statement it sees at least as much.
    public static let newest: SQL = "SELECT position, id FROM log.recorded_events ORDER BY position DESC LIMIT 1"
}

extension Rows {
    /// - Throws: `PostgresError`
    fileprivate func decodePlaces() throws -> [LogPlace] {
        try decode((Int64, UUID).self).map { LogPlace(position: $0, id: $1) }
    }
}
