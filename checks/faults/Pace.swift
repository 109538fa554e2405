import Synchronization
import TestChance

/// Synchronises clients and faults: a fault begins after half of its commands, and the next commands wait for its end.
final class Pace: Sendable {
    private struct State: Sendable {
        var allowed = 0
        var finished = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let deadline: ContinuousClock.Instant

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    var finished: Int { state.withLock { $0.finished } }

    /// Whether the run has ended or exceeded its deadline; then every wait of a client ends.
    var isOver: Bool { state.withLock { $0.isOver } || ContinuousClock.now > deadline }

    /// - Parameter commands: the number for each client, counted from the start of the run
    func allow(_ commands: Int) { state.withLock { $0.allowed = commands } }

    func end() { state.withLock { $0.isOver = true } }

    func finishedOne() { state.withLock { $0.finished += 1 } }

    /// Waits until the command may start; false if the run is over.
    func mayStart(_ command: Int) async -> Bool {
        while !isOver {
            if state.withLock({ command < $0.allowed }) { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }
}

/// The events that clients know of. Two clients form a family: they share a device and its events.
final class KnownEvents: Sendable {
    private let events = Mutex<[Int: [Int64]]>([:])

    func add(_ event: Int64, of family: Int) { events.withLock { $0[family, default: []].append(event) } }

    /// One of the last four events, which the family's other client uses too.
    func event(of family: Int, _ generator: inout SeededGenerator) -> Int64? {
        events.withLock { Array(($0[family] ?? []).suffix(4)) }.randomElement(using: &generator)
    }
}
