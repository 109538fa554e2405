import Encoding
import Foundation
import Synchronization
import Testing

@testable import App

@Suite struct `What is printed` {
    /// What the body writes.
    private func written(
        _ format: Output.Format, zone: TimeZone = .gmt, _ body: (Output) throws -> Void
    ) throws -> String {
        let text = Mutex("")
        try body(Output(format: format, zone: zone) { more in text.withLock { $0 += more } })
        return text.withLock { $0 }
    }

    private static let moment = Timestamp(milliseconds: 1_379_289_600_123)
    private static let table = Table(
        "stream", "events", "size", "last_at", "state",
        rows: [
            [.text("event-12"), .count(1_234_567), .bytes(1_500), .time(moment), .state(.good, "ok")],
            [.text("user-1"), .count(-1), .bytes(999), .none, .state(.bad, "behind")],
        ])

    @Test func `stands in columns for people, numbers to the right`() throws {
        #expect(
            try written(.text(isColoured: false)) { try $0.write(Self.table) } == """
                stream       events    size  last at                   state
                event-12  1,234,567  1.5 kB  2013-09-16 00:00:00.123Z  ok
                user-1           -1   999 B                            behind

                """)
    }

    @Test func `is one object a line for programs, from the same table`() throws {
        let lines = try written(.json) { try $0.write(Self.table) }
        #expect(
            lines == """
                {"stream":"event-12","events":1234567,"size":1500,"last_at":"2013-09-16T00:00:00.123Z","state":"ok"}
                {"stream":"user-1","events":-1,"size":999,"last_at":null,"state":"behind"}

                """)
    }

    @Test func `has colours where they are wanted, and nowhere else`() throws {
        let coloured = try written(.text(isColoured: true)) { try $0.write(Self.table) }
        #expect(coloured.contains("\u{1B}[1mstream\u{1B}[0m     "))
        #expect(coloured.contains("\u{1B}[32mok\u{1B}[0m\n"))
        #expect(coloured.contains("\u{1B}[31mbehind\u{1B}[0m\n"))
        #expect(!(try written(.text(isColoured: false)) { try $0.write(Self.table) }).contains("\u{1B}"))
        #expect(!(try written(.json) { try $0.write(Self.table) }).contains("\u{1B}"))
    }

    @Test func `comes row by row below one heading`() throws {
        let lines = try written(.text(isColoured: false)) { output in
            var rows = output.rows([Column("position", width: 10), "type"])
            try rows.write([[.number(Int64(9)), .text("a")]])
            try rows.write([[.number(Int64(1_000_000)), .text("b")]])
        }
        #expect(lines == "  position  type\n         9  a\n   1000000  b\n")
    }

    @Test func `is a line a field for one thing, with the members of its data`() throws {
        let record: Record = ["recorded_at": .time(Self.moment), "data": .json(["name": "Chess", "end": .null]), "actor": .none]
        #expect(
            try written(.text(isColoured: false), zone: try #require(TimeZone(secondsFromGMT: -12_600))) { try $0.write(record) }
                == "recorded at  2013-09-15 20:30:00.123-03:30\ndata.name    Chess\ndata.end\nactor\n")
        #expect(
            try written(.json, zone: try #require(TimeZone(secondsFromGMT: 3_600))) { try $0.write(record) }
                == #"{"recorded_at":"2013-09-16T00:00:00.123Z","data":{"name":"Chess","end":null},"actor":null}"# + "\n")
    }

    @Test func `gives a terminal nothing to obey`() throws {
        let evil = "a\u{1B}[2J\u{9B}31m\nb\u{202E}c\u{7F}\t"
        let record: Record = ["name": .text(evil), evil: .json([evil: .string(evil)])]
        for format in [Output.Format.text(isColoured: false), .json] {
            let text = try written(format) { output in
                try output.write(record)
                try output.write(Table("name", rows: [[.text(evil)]]))
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
        (Field.bytes(1_000), "1.0 kB"), (.bytes(999_999), "1.0 MB"), (.bytes(-2_500_000_000), "-2.5 GB"),
        (.seconds(0.0123), "12.3 ms"), (.seconds(59.96), "1 min 0 s"), (.seconds(3_720), "1 h 2 min"),
        (.seconds(180_000), "2 d 2 h"), (.seconds(.infinity), ""), (.rate(0), "0"), (.rate(0.0123), "0.012"),
        (.rate(99.94), "99.9"),
        (.rate(12_345.6), "12,346"), (.rate(.nan), ""), (.flag(true), "yes"), (.count(Int64.min), "-9,223,372,036,854,775,808"),
    ])
    func `is a figure that people can read`(field: Field, text: String) {
        #expect(field.text(in: .gmt) == text)
    }

    @Test func `is a progress with rate and what is left`() {
        #expect(
            ProgressBar.line("events", 5_000, of: 20_000, seconds: 2.5, isDrawn: false)
                == "events: 5,000 of 20,000, 2,000 a second, 8.0 s to go")
        #expect(ProgressBar.line("", 20, of: 20, seconds: 0, isDrawn: true) == String(repeating: "█", count: 30) + " 20 of 20")
        #expect(ProgressBar.line("", 1, of: 60, seconds: 60, isDrawn: false) == "1 of 60, 59 min 0 s to go")
    }
}
