import TestChance
import Testing

@testable import HTTP

@Suite struct `Writing iCalendar` {
    /// The text of a line, by RFC 5545 and apart from the writer: unfolded, then unescaped.
    private static func read(_ bytes: [UInt8]) -> String {
        // No characters: a mark may stand behind a fold.
        let unfolded = bytes.split(separator: Array("\r\n ".utf8), omittingEmptySubsequences: false).flatMap(Array.init)
        var (text, isEscaped) = ("", false)
        for scalar in String(decoding: unfolded, as: UTF8.self).unicodeScalars.dropFirst("SUMMARY:".count) {
            if isEscaped {
                text.unicodeScalars.append(scalar == "n" ? "\n" : scalar)
            } else if scalar != "\\" {
                text.unicodeScalars.append(scalar)
            }
            isEscaped = !isEscaped && scalar == "\\"
        }
        return String(text.unicodeScalars.dropLast(2))
    }

    private static func written(_ text: String) -> [UInt8] {
        var writer = CalendarWriter()
        writer.text("SUMMARY", text)
        return writer.bytes
    }

    /// Expects lines of 75 octets at most, whole characters, and no CR or LF but at the end of a line.
    private static func expectLines(_ bytes: [UInt8], _ text: String) {
        let lines = String(decoding: bytes, as: UTF8.self).utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        #expect(lines.last?.isEmpty == true)
        for line in lines.dropLast() {
            #expect(line.last == UInt8(ascii: "\r") && line.count(where: { $0 == UInt8(ascii: "\r") }) == 1, "\(text)")
            #expect(line.count <= 76, "\(text)")
            #expect(String(validating: line, as: UTF8.self) != nil, "\(text)")
        }
    }

    @Test func `a text comes back as it was, with line feeds for other line ends and without control characters`() {
        for (text, expected) in [
            ("Chess", "Chess"), ("", ""), (#"a,b;c\d\n"#, #"a,b;c\d\n"#), ("one\r\ntwo\u{2028}three", "one\ntwo\nthree"),
            ("BEGIN:VEVENT\r\nEND:VCALENDAR\r\n", "BEGIN:VEVENT\nEND:VCALENDAR\n"),
            ("\u{0}\u{7}\u{9F}\u{7F}\tx\u{85}y", "\tx\ny"),
            ("\u{202E}gnp.exe\u{2066}", "gnp.exe"), ("👩‍👩‍👧‍👦 e\u{301}", "👩‍👩‍👧‍👦 e\u{301}"),
        ] {
            #expect(Self.read(Self.written(text)).unicodeScalars.elementsEqual(expected.unicodeScalars), "\(text)")
            Self.expectLines(Self.written(text), text)
        }
    }

    @Test(arguments: 1...20) func `random texts of every length are folded between characters`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let scalars = Array("a,;\\\n\r b\u{E9}\u{4E16}\u{1F600}\u{301}\u{200D}\u{0}".unicodeScalars)
        for length in 0..<200 {
            var text = String.UnicodeScalarView()
            for _ in 0..<length { text.append(scalars.randomElement(using: &generator) ?? "a") }
            let bytes = Self.written(String(text))
            let expected = text.filter { $0 != "\r" && $0 != "\u{0}" }
            #expect(Self.read(bytes).unicodeScalars.elementsEqual(expected))
            Self.expectLines(bytes, String(text))
        }
    }
}
