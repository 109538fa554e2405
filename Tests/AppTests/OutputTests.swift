import Encoding
import EventStore
import Foundation
import Synchronization
import Testing

@testable import App

@Suite struct `The output of a command` {
    /// The text that the body writes.
    private func written(_ format: Output.Format, _ body: (Output) throws -> Void) throws -> String {
        let text = Mutex("")
        try body(Output(format: format) { more in text.withLock { $0 += more } })
        return text.withLock { $0 }
    }

    private static let rows: [JSONObject] = [
        [
            "stream": "event-12", "events": .number("1234567"), "size_bytes": .number("1500"),
            "last_at": "2013-09-16T00:00:00.123Z", "state": "ok",
        ],
        ["stream": "user-1", "events": .number("-1"), "size_bytes": .number("999"), "last_at": .null, "state": "behind"],
        ["stream": "user-2", "events": .number("0"), "size_bytes": .null, "last_at": .null, "state": "missing"],
    ]

    @Test func `a table for people has aligned columns, with numbers on the right`() throws {
        #expect(
            try written(.text) { try $0.write(Self.rows) } == """
                stream     events  size bytes  last at                   state
                event-12  1234567      1.5 kB  2013-09-16 00:00:00.123Z  ok
                user-1         -1       999 B                            behind
                user-2          0                                        missing

                """)
    }

    @Test func `a table for programs has one object per line`() throws {
        let lines = try written(.json) { try $0.write(Array(Self.rows.prefix(2))) }
        #expect(
            lines == """
                {"stream":"event-12","events":1234567,"size_bytes":1500,"last_at":"2013-09-16T00:00:00.123Z","state":"ok"}
                {"stream":"user-1","events":-1,"size_bytes":999,"last_at":null,"state":"behind"}

                """)
    }

    @Test func `one column has one alignment`() throws {
        let rows: [JSONObject] = [["old": .number("1"), "end": "|"], ["old": "tea", "end": "|"]]
        #expect(try written(.text) { try $0.write(rows) } == "old  end\n1    |\ntea  |\n")
        let long: [JSONObject] = [
            ["old": .string(String(repeating: "x", count: 1_000)), "end": "|"], ["old": "tea", "end": "|"],
        ]
        #expect(
            try written(.text) { try $0.write(long) }.hasSuffix(
                "tea" + String(repeating: " ", count: 59) + "|\n"))
    }

    @Test func `a table for people omits what only programs read`() throws {
        let row: JSONObject = ["a": "1", "id": "2"]
        #expect(try written(.text) { try Table($0, omitting: ["id"]).write([row]) } == "a\n1\n")
        #expect(try written(.json) { try Table($0, omitting: ["id"]).write([row]) } == "{\"a\":\"1\",\"id\":\"2\"}\n")
    }

    @Test func `rows that come one by one have one heading`() throws {
        let lines = try written(.text) { output in
            let table = Table(output, leastWidths: ["position": 10])
            for (position, type) in [("9", "a"), ("1000000", "b")] {
                try table.write([["position": .number(position), "type": .string(type)]])
            }
            try table.write([])
        }
        #expect(lines == "  position  type\n         9  a\n   1000000  b\n")
    }

    @Test func `a record has one line per member, also of its data`() throws {
        let record: JSONObject = [
            "recorded_at": "2013-09-16T00:00:00.123Z", "data": ["name": "Chess", "end": .null, "lat": .number("37.76")],
            "actor": .null,
        ]
        #expect(
            try written(.text) { try $0.write(record) }
                == "recorded at  2013-09-16 00:00:00.123Z\ndata.name    Chess\ndata.end\ndata.lat     37.76\nactor\n")
        #expect(try written(.text) { try $0.write(details: [["a": "1"], ["a": "2"]]) } == "a  1\n\na  2\n")
        #expect(try written(.json) { try $0.write(record) } == JSON.object(record).text + "\n")
    }

    @Test func `stored control characters are escaped`() throws {
        let evil = "a\u{1B}[2J\u{9B}31m\nb\u{202E}c\u{7F}\t"
        let record: JSONObject = ["name": .string(evil), "list": [.string(evil)], evil: [evil: .string(evil)]]
        for format in [Output.Format.text, .json] {
            let text = try written(format) { output in
                try output.write(record)
                try output.write([record, ["name": .string(evil), "list": .null, "state": .string(evil)]])
                try output.say(evil)
            }
            let harmful = text.unicodeScalars.filter { $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }
            #expect(harmful.isEmpty)
            #expect(!text.unicodeScalars.contains("\u{202E}"))
        }
        let line = try written(.json) { try $0.write(record) }
        #expect(try JSON(utf8: Array(line.utf8))["name"] == .string(evil))
        #expect(harmless(evil) == #"a\u001b[2J\u009b31m\nb\u202ec\u007f\t"#)
    }

    @Test(arguments: [
        ("bytes", "1000", "1.0 kB"), ("free_bytes", "999999", "1.0 MB"), ("bytes", "-2500000000", "-2.5 GB"),
        ("held_seconds", "0.0123", "12.3 ms"), ("seconds", "59.96", "1 min 0 s"), ("seconds", "3720", "1 h 2 min"),
        ("seconds", "180000", "2 d 2 h"), ("per_day", "0", "0"), ("per_day", "0.0123", "0.012"),
        ("events_a_second", "99.94", "99.9"), ("events_a_second", "12345.6", "12,346"),
        // A position or an id, which a command takes as it is, and a part of the data.
        ("position", "1234567", "1234567"), ("lat", "37.748712", "37.748712"), ("seconds", "1e999", "104166666666666 d 16 h"),
    ])
    func `the end of a member's name is the unit of its number`(name: String, digits: String, text: String) {
        #expect(JSON.number(digits).readable(as: name) == text)
    }

    @Test func `a progress line has the amount, the rate and the remaining time, of all numbers`() {
        #expect(
            ProgressLines.line("events", 5_000, of: 20_000, seconds: 2.5)
                == "events: 5,000 of 20,000, 2,000 a second, 8.0 s to go")
        #expect(ProgressLines.line("", 20, of: 20, seconds: 0) == "20 of 20")
        #expect(ProgressLines.line("", 1, of: 60, seconds: 60) == "1 of 60, 59 min 0 s to go")
        let numbers: [(done: Int64, total: Int64)] = [
            (0, 1), (1, 1), (0, .max), (.max - 1, .max), (.max, .max), (922_337_203_685_477_581, .max), (.min, .max), (.max, 1),
        ]
        let lines = ProgressLines()
        for (done, total) in numbers {
            for seconds in [0, 1e-9, 1, 1e300] {
                let kept = max(0, min(done, total))
                #expect(ProgressLines.line("", kept, of: total, seconds: seconds).contains(" of "))
            }
            lines.show(done, of: total)
        }
    }
}
