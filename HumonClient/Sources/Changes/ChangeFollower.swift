internal import Foundation

/// List, then changes: keeps the position in the log, and connects again.
final class ChangeFollower {
    /// Maximum number of events in the list of a region.
    static let listLimit = 20_000
    /// Maximum pause before a new connection, and the pause between two lists of a server without streams.
    private static let longestPause = Duration.seconds(30)

    private let changes: Changes
    /// The position up to which the caller has every change; `nil` without a list.
    private var position: Position?
    private var stream: Exchange?
    private var parser = ServerSentEventParser()
    /// Changes that have arrived, the first one last.
    private var arrived: [Change] = []
    /// Connections that failed or lists that were of no use, since the last one that succeeded.
    private var failures = 0
    /// Resets since a stream went on after its first line.
    private var resets = 0
    private var hasFirstLine = false
    /// The pause before the next connection that the server wishes.
    private var pauseMilliseconds = 2_000
    private var isInterrupted = false

    init(_ changes: Changes) {
        self.changes = changes
        position = changes.position
    }

    deinit { stream?.cancel() }

    /// - Throws: as `Changes.Iterator.next()`
    func next() async throws -> Change {
        while true {
            if let change = arrived.popLast() { return change }
            do {
                if stream == nil, failures > 0 { try await pause() }
                if let stream {
                    try await read(stream)
                    continue
                }
                if position == nil {
                    arrived = [try await list()] + resumption()
                } else {
                    try await connect()
                }
            } catch let error as HumonError where error.mayPass {
                let wasConnected = stream != nil
                disconnect()
                // A server that stops or a proxy that ends long responses is no interruption: the next connection succeeds.
                if !wasConnected, !isInterrupted {
                    isInterrupted = true
                    return .interrupted(error)
                }
            } catch {
                disconnect()
                throw error
            }
        }
    }

    private func disconnect() {
        stream?.cancel()
        stream = nil
        failures += 1
    }

    /// The end of an interruption, if there is one. It comes with the first data, because the app's events are old until then.
    private func resumption() -> [Change] {
        defer { isInterrupted = false }
        return isInterrupted ? [.resumed] : []
    }

    /// The server answers, so the list and the next stream follow at once. A server that resets each stream gets pauses.
    private func reset() {
        disconnect()
        position = nil
        failures = resets
        resets += 1
    }

    /// Longer after each failure, and different for each client.
    private func pause() async throws {
        let longest = min(Duration.milliseconds(pauseMilliseconds) * (1 << min(failures - 1, 8)), Self.longestPause)
        try await changes.api.requester.sleep(longest * Double.random(in: 0.5...1))
    }

    /// All pages of the region. Their lowest position counts: what came later, the changes bring again.
    private func list() async throws -> Change {
        var (events, cursor, positions) = ([Event](), Cursor?.none, [Position?]())
        repeat {
            let page = try await changes.api.events(
                in: changes.region, during: changes.window, words: changes.words, category: changes.category, after: cursor)
            events += page.elements
            guard events.count <= Self.listLimit else { throw HumonError.tooManyEvents(limit: Self.listLimit) }
            positions.append(page.position)
            cursor = page.next
        } while cursor != nil
        let known = positions.compactMap(\.self)
        position = known.count == positions.count ? known.min { $0.number < $1.number } : nil
        // A stream needs a position. Without one, the client pauses and reads the list again.
        failures = position == nil ? failures + 1 : 0
        return .list(events)
    }

    private func connect() async throws {
        parser = ServerSentEventParser()
        hasFirstLine = false
        let since = [(name: "since", value: position?.rawValue ?? "0")]
        let query = changes.region.query + changes.window.query(changes.words, changes.category) + since
        stream = try await changes.api.requester.stream(.get("/v1/events/changes", query))
    }

    private func read(_ stream: Exchange) async throws {
        guard let bytes = try await stream.nextBytes() else { return disconnect() }
        let events: [ServerSentEvent]
        do { events = try parser.events(in: bytes) } catch { throw HumonError.unusableResponse("an event is too long") }
        if let pause = parser.retryMilliseconds { pauseMilliseconds = min(max(pause, 100), 60_000) }
        for event in events {
            if event.name == "reset" {
                reset()
                break
            }
            failures = 0
            if hasFirstLine { resets = 0 }
            hasFirstLine = true
            arrived += resumption()
            if let id = event.id { position = Position(rawValue: id) }
            guard let data = event.data else { continue }
            switch event.name {
            case "put": arrived.append(.put(try Requester.decoded(Event.self, Data(data.utf8))))
            case "gone": arrived.append(.gone(try Requester.decoded(Gone.self, Data(data.utf8)).id))
            // A later version of the API may have more.
            default: break
            }
        }
        arrived.reverse()
    }

    private struct Gone: Decodable { var id: Event.ID }
}
