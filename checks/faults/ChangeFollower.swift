import Encoding
import EventStore
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// A client that keeps the events of a circle from a list and its changes. It connects to both servers in turn, and continues
/// after every broken connection.
final class ChangeFollower: Sendable {
    /// A mistake on purpose, so that the check can be seen failing.
    enum Sabotage: Sendable {
        /// Ignores every fifth change.
        case skips
    }

    /// Commands move events across the border of this circle: they have the latitudes 0 to 89.
    private static let circle = "lat=20&lon=3.5&radius=2200"
    private static let patience = Duration.seconds(20)
    private static let pause = Duration.milliseconds(50)

    private struct State {
        var events: [Int64: JSON] = [:]
        /// `nil` before the first list, and after a reset.
        var position: LogCursor?
        var changes = 0
        var resets = 0
        var violations: [Violation] = []
    }

    private let fleet: Fleet
    private let first: Int
    private let sabotage: Sabotage?
    private let state = Mutex(State())

    /// - Parameter first: the server to begin with
    init(fleet: Fleet, first: Int, _ sabotage: Sabotage? = nil) {
        self.fleet = fleet
        self.first = first
        self.sabotage = sabotage
    }

    /// The numbers of changes and of resets.
    var counts: (changes: Int, resets: Int) { state.withLock { ($0.changes, $0.resets) } }

    /// Follows until the task is cancelled.
    func run() async {
        var node = first
        while !Task.isCancelled {
            // A broken connection, a refusal, or the end of a stream.
            try? await follow(node)
            node = 1 - node
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Waits until the follower has every change up to the end of a log that does not grow, and compares its events with the
    /// list of each server.
    func violations(at tail: Int64, patienceSeconds: Double) async -> [Violation] {
        do {
            // A heartbeat brings the last position, if no change does.
            try await wait(for: "the follower \(first) to reach position \(tail)", withinSeconds: patienceSeconds) {
                try await Task.sleep(for: Self.pause)
                return state.withLock { $0.position?.position ?? 0 >= tail }
            }
            var violations = state.withLock { $0.violations }
            for node in fleet.ports.indices {
                let (listed, held) = (try await list(node).events, state.withLock { $0.events })
                let ids = Set(listed.keys).union(held.keys).filter { listed[$0] != held[$0] }.sorted()
                if !ids.isEmpty { violations.append(violation("differs from the list of server \(node) in the events \(ids)")) }
            }
            return violations
        } catch {
            return [violation("cannot be compared: \(error)")]
        }
    }

    private func violation(_ what: String) -> Violation {
        Violation(check: .changes, sentence: "what the follower \(first) assembled \(what)")
    }

    private func follow(_ node: Int) async throws {
        if state.withLock({ $0.position == nil }) {
            let list = try await list(node)
            state.withLock { ($0.events, $0.position) = (list.events, list.position) }
        }
        guard let position = state.withLock({ $0.position }) else { return }
        try await fleet.stream("/v1/events/changes?\(Self.circle)&since=\(position)", from: node) { parts in
            var rest: [UInt8] = []
            for try await part in parts {
                switch part {
                case .head(let head): guard head.status == .ok else { return }
                case .body(let bytes): rest += bytes.readableBytesView
                case .end: return
                }
                while let end = rest.firstRange(of: Array("\n\n".utf8)) {
                    take(String(decoding: rest[..<end.lowerBound], as: UTF8.self))
                    rest.removeSubrange(..<end.upperBound)
                }
            }
        }
    }

    private func take(_ block: String) {
        var fields: [Substring: Substring] = [:]
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        state.withLock { state in
            if fields["event"] == "reset" {
                state.position = nil
                state.resets += 1
            }
            guard let id = fields["id"].flatMap({ LogCursor(String($0)) }), let position = state.position else { return }
            let isChange = fields["event"] != nil
            if isChange ? id.position <= position.position : id.position < position.position {
                state.violations.append(violation("went from position \(position) to \(id)"))
            }
            state.position = id
            guard isChange, let json = fields["data"].flatMap({ try? JSON(utf8: $0.utf8) }), let event = json.id else { return }
            state.changes += 1
            if sabotage == .skips, state.changes % 5 == 0 { return }
            state.events[event] = fields["event"] == "put" ? json : nil
        }
    }

    /// All pages of the list, with the lowest of their positions.
    /// - Throws: a violation if a response is not a list with a position, which a server without its index in use does not give
    private func list(_ node: Int) async throws -> (events: [Int64: JSON], position: LogCursor) {
        var (events, lowest, path) = ([Int64: JSON](), LogCursor(position: .max), Optional("/v1/events/nearests?\(Self.circle)"))
        while let next = path {
            let page = try await fleet.send("GET", next, to: node, patience: Self.patience)
            guard page.status == 200, let position = page.position, let json = try? JSON(utf8: page.body.utf8) else {
                throw violation("has no list: server \(node) answered \(page.status)")
            }
            if case .array(let listed) = json { for event in listed { if let id = event.id { events[id] = event } } }
            if position.position < lowest.position { lowest = position }
            path = page.next
        }
        return (events, lowest)
    }
}

extension JSON {
    fileprivate var id: Int64? { if case .number(let digits) = self["id"] { Int64(digits) } else { nil } }
}
