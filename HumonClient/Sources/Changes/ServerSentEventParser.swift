/// An event of a stream, as the HTML standard defines it, or a line of `id` alone.
struct ServerSentEvent: Sendable, Hashable {
    /// `message` if the stream names none.
    var name: String
    /// The lines of the data, with line feeds between them. `nil` without data: then only the id moves forward.
    var data: String?
    /// The last id of the stream so far.
    var id: String?
}

/// Reads `text/event-stream` from parts of any size, in time linear in their length.
///
/// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>
struct ServerSentEventParser: Sendable {
    /// Maximum length of an event without its end. An event of the API has about 1,000 bytes.
    static let limitBytes = 1 << 20

    /// The event is longer than the limit.
    struct TooLongError: Error, Hashable {}

    /// The pause before a new connection, in milliseconds, if the stream names one.
    private(set) var retryMilliseconds: Int?

    private var line: [UInt8] = []
    private var lastWasReturn = false
    private var isFirstLine = true
    private var name = ""
    private var data: [UInt8]?
    private var id: String?
    private var hasNewID = false

    /// The events that end in these bytes.
    /// - Throws: `TooLongError`
    mutating func events(in bytes: some Sequence<UInt8>) throws(TooLongError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            // CR, LF, and CR LF end a line.
            defer { lastWasReturn = byte == UInt8(ascii: "\r") }
            if byte == UInt8(ascii: "\n"), lastWasReturn { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if let event = takeLine() { events.append(event) }
                line.removeAll(keepingCapacity: true)
            } else {
                guard line.count + (data?.count ?? 0) < Self.limitBytes else { throw TooLongError() }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func takeLine() -> ServerSentEvent? {
        var line = line[...]
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        // A comment has no field.
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data": data = data.map { $0 + [UInt8(ascii: "\n")] + value } ?? Array(value)
        case "id" where !value.contains(0):
            id = String(decoding: value, as: UTF8.self)
            hasNewID = true
        case "retry":
            let digits = String(decoding: value, as: UTF8.self)
            if value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let pause = Int(digits) {
                retryMilliseconds = pause
            }
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (name, data, hasNewID) = ("", nil, false) }
        guard data != nil || hasNewID else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name, data: data.map { String(decoding: $0, as: UTF8.self) }, id: id)
    }
}
