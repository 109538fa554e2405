import Testing

@testable import HumonClient

@Suite struct `Reading server-sent events` {
    private static func events(_ text: String) throws -> [ServerSentEvent] {
        var parser = ServerSentEventParser()
        return try parser.events(in: text.utf8)
    }

    @Test func `the stream of the API is read`() throws {
        var parser = ServerSentEventParser()
        let text = "retry: 2000\nid: 7\n\nid: 8\nevent: put\ndata: {\"id\":1}\n\nevent: reset\ndata: {}\n\n"
        #expect(
            try parser.events(in: text.utf8) == [
                ServerSentEvent(name: "message", data: nil, id: "7"), ServerSentEvent(name: "put", data: "{\"id\":1}", id: "8"),
                ServerSentEvent(name: "reset", data: "{}", id: "8"),
            ])
        #expect(parser.retryMilliseconds == 2_000)
    }

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `each end of a line works, in parts of any size`(end: String) throws {
        let text = "\u{FEFF}id: 1\ndata: ä\ndata\ndata:b\n\n: comment\nid: 2\n\n".replacing("\n", with: end)
        let expected = [
            ServerSentEvent(name: "message", data: "ä\n\nb", id: "1"), ServerSentEvent(name: "message", data: nil, id: "2"),
        ]
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try parser.events(in: bytes[start..<min(start + size, bytes.count)])
            }
            #expect(events == expected, "parts of \(size) bytes")
        }
    }

    @Test(
        arguments: [
            // An event without its empty line is not given, and comments, unknown fields and unusable values are none.
            ("id: 1\ndata: a\n", nil), ("data: a", nil), (": a\nother: b\nnothing\n\n", nil), ("id: a\0b\ndata: c\n\n", "c"),
            // One space behind the colon is no part of the value, and a name holds for one event.
            ("data:  a \n\n", " a "), ("data:\n\n", ""), ("event: put\n\ndata: a\n\n", "a"),
        ] as [(String, String?)])
    func `a text has at most one message, with this data`(text: String, data: String?) throws {
        #expect(try Self.events(text) == (data.map { [ServerSentEvent(name: "message", data: $0, id: nil)] } ?? []))
    }

    @Test func `an unusable pause is ignored`() throws {
        var parser = ServerSentEventParser()
        _ = try parser.events(in: "retry: 1x\nretry: -1\nretry: 99999999999999999999\n\n".utf8)
        #expect(parser.retryMilliseconds == nil)
    }

    @Test func `an event beyond the limit is an error, as one line or as many`() throws {
        let half = String(repeating: "x", count: ServerSentEventParser.limitBytes / 2)
        #expect(throws: ServerSentEventParser.TooLongError.self) { try Self.events("data: \(half)\(half)\n\n") }
        #expect(throws: ServerSentEventParser.TooLongError.self) { try Self.events("data: \(half)\ndata: \(half)\n\n") }
        #expect(try Self.events("data: \(half)\n\ndata: \(half)\n\n").count == 2)
    }
}
