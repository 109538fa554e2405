internal import Encoding

/// The lines of a stream of changes, as server-sent events. Source: WHATWG *HTML*, section 9.2, Server-sent events.
enum ChangeLines {
    /// Milliseconds that a browser waits before it connects again.
    private static let retryMilliseconds: Int64 = 2_000

    /// The first lines of a stream.
    /// - Parameter position: the position that the client has already
    static func opening(at position: Int64) -> [UInt8] {
        lines {
            $0.append("retry", retryMilliseconds); $0.append("id", position)
        }
    }

    /// The lines for a client that shows the event from now on.
    /// - Parameter json: the event as `GET` answers it
    static func put(_ position: Int64, _ json: [UInt8]) -> [UInt8] {
        lines { bytes in
            bytes.append("id", position)
            bytes.append(contentsOf: "event: put\ndata: ".utf8)
            bytes.append(contentsOf: json)
            bytes.append(UInt8(ascii: "\n"))
        }
    }

    /// The lines for a client that shows the event no longer.
    static func gone(_ position: Int64, _ id: EventID) -> [UInt8] {
        lines { bytes in
            bytes.append("id", position)
            bytes.append(contentsOf: "event: gone\ndata: {\"id\":\(id.rawValue)}\n".utf8)
        }
    }

    /// Without an id: a client that connects again must not continue behind the changes that it lacks.
    static func reset(at position: Int64) -> [UInt8] {
        lines { $0.append(contentsOf: "event: reset\ndata: {\"position\":\(position)}\n".utf8) }
    }

    static func heartbeat(at position: Int64) -> [UInt8] { lines { $0.append("id", position) } }

    /// The heartbeat for a client that is ahead of the node: a comment, because an id would move the client back.
    static let waiting = Array(":\n\n".utf8)

    private static func lines(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        write(&bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ field: String, _ number: Int64) { append(contentsOf: "\(field): \(number)\n".utf8) }
}
