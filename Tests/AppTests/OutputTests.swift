import Encoding
import EventStore
import Foundation
import Synchronization
import Testing

@testable import App

@Suite struct `The output of a command` {
    /// The text that the body writes.
    private func written(
        _ format: Output.Format, zone: TimeZone = .gmt, width: Int? = nil, columns: [String]? = nil, hasHeadings: Bool = true,
        _ body: (Output) throws -> Void
    ) throws -> String {
        let text = Mutex("")
        try body(
            Output(format: format, zone: zone, width: width, columns: columns, hasHeadings: hasHeadings) { more in
                text.withLock { $0 += more }
            })
        return text.withLock { $0 }
    }

    private static let moment = Timestamp(milliseconds: 1_379_289_600_123)
    private struct Row: Sendable {
        var stream: String
        var events: Int64
        var bytes: Int64
        var lastAt: Timestamp?
        var isGood: Bool
    }

    private static let rows = [
        Row(stream: "event-12", events: 1_234_567, bytes: 1_500, lastAt: moment, isGood: true),
        Row(stream: "user-1", events: -1, bytes: 999, lastAt: nil, isGood: false),
    ]

    private static let columns: [RowColumn<Row>] = [
        .text("stream") { $0.stream }, .count("events") { $0.events }, .bytes("size") { $0.bytes },
        .time("last_at") { $0.lastAt }, .state("state") { $0.isGood ? (.good, "ok") : (.bad, "behind") },
    ]

    @Test func `a table for people has aligned columns, with numbers on the right`() throws {
        #expect(
            try written(.text(isColoured: false)) { try $0.write(Self.rows, Self.columns) } == """
                stream       events    size  last at                   state
                event-12  1,234,567  1.5 kB  2013-09-16 00:00:00.123Z  ok
                user-1           -1   999 B                            behind

                """)
    }

    @Test func `a table for programs has one object per line`() throws {
        let lines = try written(.json) { try $0.write(Self.rows, Self.columns) }
        #expect(
            lines == """
                {"stream":"event-12","events":1234567,"size":1500,"last_at":"2013-09-16T00:00:00.123Z","state":"ok"}
                {"stream":"user-1","events":-1,"size":999,"last_at":null,"state":"behind"}

                """)
    }

    @Test func `only coloured output contains escape sequences`() throws {
        let coloured = try written(.text(isColoured: true)) { try $0.write(Self.rows, Self.columns) }
        #expect(coloured.contains("\u{1B}[1mstream\u{1B}[0m     "))
        #expect(coloured.contains("\u{1B}[32mok\u{1B}[0m\n"))
        #expect(coloured.contains("\u{1B}[31mbehind\u{1B}[0m\n"))
        #expect(!(try written(.text(isColoured: false)) { try $0.write(Self.rows, Self.columns) }).contains("\u{1B}"))
        #expect(!(try written(.json) { try $0.write(Self.rows, Self.columns) }).contains("\u{1B}"))
    }

    @Test func `a table has only the columns that the user named, in that order`() throws {
        let columns = ["state", "stream"]
        #expect(
            try written(.text(isColoured: false), columns: columns) { try $0.write(Self.rows, Self.columns) }
                == "state   stream\nok      event-12\nbehind  user-1\n")
        #expect(
            try written(.json, columns: columns) { try $0.write(Self.rows, Self.columns) }
                == "{\"state\":\"ok\",\"stream\":\"event-12\"}\n{\"state\":\"behind\",\"stream\":\"user-1\"}\n")
    }

    @Test func `a column for programs is shown to a person who names it`() throws {
        let columns: [RowColumn<(String, String)>] = [.text("a") { $0.0 }, .text("b", .detail) { $0.1 }]
        #expect(try written(.text(isColoured: false)) { try $0.write([("1", "2")], columns) } == "a\n1\n")
        #expect(
            try written(.text(isColoured: false), columns: ["b", "a"]) { try $0.write([("1", "2")], columns) } == "b  a\n2  1\n")
    }

    @Test func `a table without headings starts with the first row and ignores the width of the headings`() throws {
        let text = try written(.text(isColoured: false), hasHeadings: false) {
            try $0.write(["x"], [.text("a_long_heading") { $0 }, .text("b") { _ in "y" }])
        }
        #expect(text == "x  y\n")
    }

    @Test func `a table aligns wide characters, emoji and combining marks`() throws {
        let names = ["東京", "🏳️‍🌈 👩‍👩‍👧", "Cafe\u{301}", "한국", "abcdefgh"]
        #expect(
            try written(.text(isColoured: false)) { try $0.write(names, [.text("name") { $0 }, .text("end") { _ in "|" }]) }
                == """
                name      end
                東京      |
                🏳️‍🌈 👩‍👩‍👧     |
                Cafe\u{301}      |
                한국      |
                abcdefgh  |

                """)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("東京", 4), ("ﾃｽﾄ", 3), ("Ａ", 2), ("👍🏽", 2), ("☀", 1), ("☀\u{FE0F}", 2),
        ("🇩🇪", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{200B}", 0), ("א", 1), ("𠮷", 2), ("…", 1),
    ])
    func `the width of a text is its number of columns on a terminal`(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("東京都", 5, "東京…"), ("東京都", 4, "東…"),
        ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
        ("abc", 1, "…"), ("abc", 0, ""),
    ])
    func `a text is cut between characters`(text: String, limit: Int, cut: String) {
        #expect(text.cut(toWidth: limit) == cut)
        #expect(text.cut(toWidth: limit).displayWidth <= limit)
    }

    @Test(arguments: [24, 40, 62, 80, 200])
    func `a table fits the width of the terminal and cuts neither numbers nor times`(width: Int) throws {
        let rows = [
            ("北海道の桜まつり2026年", Int64(1_042), "someone", String(repeating: "x", count: 100)), ("short", 7, nil, "東京"),
        ]
        let columns: [RowColumn<(String, Int64, String?, String)>] = [
            .text("name") { $0.0 }, .number("position") { $0.1 }, .time("recorded_at") { _ in Self.moment },
            .text("actor", .side) { $0.2 }, .text("data") { $0.3 },
        ]
        let lines = try written(.text(isColoured: false), width: width) { try $0.write(rows, columns) }.split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines { #expect(line.displayWidth <= width, "\(line)") }
        #expect(lines[1].contains(" 1042"))
        // The actor yields first. All other columns need 62.
        #expect(lines[1].contains("2013-09-16 00:00:00.123Z") == (width >= 62))
        #expect(lines[1].contains("xxx") == (width >= 62))
        #expect(lines[1].contains("someone") == (width >= 80))
    }

    @Test func `a narrow terminal gets all columns that the user named`() throws {
        let columns: [RowColumn<Int64>] = [.number("a") { $0 }, .number("b") { $0 }]
        let text = try written(.text(isColoured: false), width: 10, columns: ["a", "b"]) { try $0.write([1_234_567], columns) }
        #expect(text.contains("1234567  1234567"))
    }

    @Test(arguments: [
        (OutputOptions.Colors.always, [:], true), (.always, ["NO_COLOR": "1"], true), (.never, [:], false),
        (.auto, [:], false), (.auto, ["NO_COLOR": "1"], false),
    ])
    func `the option decides about colours, and a file gets none by default`(
        colors: OutputOptions.Colors, environment: [String: String], areWanted: Bool
    ) {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(colors.areWanted(on: Terminal(descriptor: descriptor), environment: environment) == areWanted)
    }

    @Test func `rows that come one by one have one heading`() throws {
        let lines = try written(.text(isColoured: false)) { output in
            let columns: [RowColumn<(Int64, String)>] = [.number("position", length: 10) { $0.0 }, .text("type") { $0.1 }]
            var writer = RowWriter(output: output, columns: columns.map(\.column))
            for row in [(Int64(9), "a"), (1_000_000, "b")] { try writer.write([columns.map { $0.value(row) }]) }
        }
        #expect(lines == "  position  type\n         9  a\n   1000000  b\n")
    }

    @Test func `a record has one line per field and per member of its data`() throws {
        let record: Record = ["recorded_at": .time(Self.moment), "data": .json(["name": "Chess", "end": .null]), "actor": .none]
        #expect(
            try written(.text(isColoured: false), zone: try #require(TimeZone(secondsFromGMT: -12_600))) { try $0.write(record) }
                == "recorded at  2013-09-15 20:30:00.123-03:30\ndata.name    Chess\ndata.end\nactor\n")
        #expect(
            try written(.json, zone: try #require(TimeZone(secondsFromGMT: 3_600))) { try $0.write(record) }
                == #"{"recorded_at":"2013-09-16T00:00:00.123Z","data":{"name":"Chess","end":null},"actor":null}"# + "\n")
    }

    @Test func `stored control characters are escaped`() throws {
        let evil = "a\u{1B}[2J\u{9B}31m\nb\u{202E}c\u{7F}\t"
        let record: Record = ["name": .text(evil), evil: .json([evil: .string(evil)])]
        for format in [Output.Format.text(isColoured: false), .json] {
            let text = try written(format) { output in
                try output.write(record)
                try output.write([evil], [.text("name") { $0 }])
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
        (ReportValue.bytes(1_000), "1.0 kB"), (.bytes(999_999), "1.0 MB"), (.bytes(-2_500_000_000), "-2.5 GB"),
        (.seconds(0.0123), "12.3 ms"), (.seconds(59.96), "1 min 0 s"), (.seconds(3_720), "1 h 2 min"),
        (.seconds(180_000), "2 d 2 h"), (.seconds(.infinity), ""), (.rate(0), "0"), (.rate(0.0123), "0.012"),
        (.rate(99.94), "99.9"),
        (.rate(12_345.6), "12,346"), (.rate(.nan), ""), (.flag(true), "yes"), (.count(Int64.min), "-9,223,372,036,854,775,808"),
    ])
    func `a figure for people has a unit and few digits`(field: ReportValue, text: String) {
        #expect(field.text(in: .gmt) == text)
    }

    @Test func `a progress line has the amount, the rate and the remaining time`() {
        #expect(
            ProgressBar.line("events", 5_000, of: 20_000, seconds: 2.5, isDrawn: false)
                == "events: 5,000 of 20,000, 2,000 a second, 8.0 s to go")
        #expect(ProgressBar.line("", 20, of: 20, seconds: 0, isDrawn: true) == String(repeating: "█", count: 30) + " 20 of 20")
        #expect(ProgressBar.line("", 1, of: 60, seconds: 60, isDrawn: false) == "1 of 60, 59 min 0 s to go")
    }

    @Test(arguments: [1, 10, 30, 45, 70, 200])
    func `a progress line is narrower than the terminal`(width: Int) {
        let line = ProgressBar.line("events", 5_000, of: 20_000, seconds: 2.5, isDrawn: true, width: width)
        #expect(line.displayWidth < width)
        #expect(line.contains("events: ") == (width >= 10))
        #expect(line.contains("to go") == (width >= 70))
        #expect(line.contains("█") == (width >= 70))
    }
}
