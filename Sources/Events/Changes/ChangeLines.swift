internal import EventStore

/// The lines of a stream of changes, as server-sent events. Source: WHATWG *HTML*, section 9.2, Server-sent events.
enum ChangeLines {
    /// Milliseconds that a browser waits before it connects again.
    private static let retryMilliseconds: Int64 = 2_000

    /// The first lines of a stream.
    /// - Parameter cursor: the client has every change up to here
    static func opening(at cursor: LogCursor) -> [UInt8] { Array("retry: \(retryMilliseconds)\n".utf8) + heartbeat(at: cursor) }

    /// The lines for a client that shows the event from now on.
    /// - Parameter json: the event as lists show it
    static func put(_ cursor: LogCursor, _ json: [UInt8]) -> [UInt8] {
        Array("id: \(cursor)\nevent: put\ndata: ".utf8) + json + Array("\n\n".utf8)
    }

    /// The lines for a client that shows the event no longer.
    static func gone(_ cursor: LogCursor, _ id: EventID) -> [UInt8] {
        Array("id: \(cursor)\nevent: gone\ndata: {\"id\":\(id.rawValue)}\n\n".utf8)
    }

    /// Without an id: a client that connects again must not continue behind the changes that it lacks. A browser passes no event on that
    /// has no data.
    static let reset = Array("event: reset\ndata: {}\n\n".utf8)

    static func heartbeat(at cursor: LogCursor) -> [UInt8] { Array("id: \(cursor)\n\n".utf8) }

    /// The heartbeat for a client that is ahead of the node: a comment, because an id would move the client back.
    static let waiting = Array(":\n\n".utf8)
}
