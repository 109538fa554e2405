import ArgumentParser
import Encoding
import Testing

@testable import App

@Suite struct `The arguments of a report` {
    private static let now = Timestamp(milliseconds: 1_379_289_600_123)

    @Test(arguments: [
        ("2013-09-15T17:00:00-07:00", "2013-09-16T00:00:00.000Z"), ("2013-09-15", "2013-09-15T00:00:00.000Z"),
        ("90s", "2013-09-15T23:58:30.123Z"), ("30m", "2013-09-15T23:30:00.123Z"), ("2h", "2013-09-15T22:00:00.123Z"),
        ("7d", "2013-09-09T00:00:00.123Z"), ("9999999999d", "0000-01-01T00:00:00.000Z"),
    ])
    func `a time is a moment, a date or an age`(text: String, moment: String) {
        #expect(Parameter.time(text, now: Self.now)?.description == moment)
    }

    @Test(arguments: ["", "d", "h", "-2h", "2w", "2 h", "yesterday", "2013-13-01", "2013-09-15T17:00", "99999999999s", "٣d"])
    func `a text that is no time is refused`(text: String) {
        #expect(throws: ValidationError.self) { try Parameter.time(text) }
    }

    @Test(arguments: [
        (["log", "search", "--limit", "0"], "'--limit <limit>': It must be a whole number from 1 to 10000."),
        (["log", "search", "--limit", "10001"], "'--limit <limit>': It must be a whole number from 1 to 10000."),
        (
            ["log", "search", "--before", "0"],
            "'--before <position>': It must be a position from 1, as the page before names it."
        ),
        (["log", "trace", ""], "'<id>': It must not be empty."),
        (["log", "tail", "--type", "Pot"], "There is no type Pot. Known: UserCreated, "),
    ])
    func `an unusable text is refused with a sentence that names the option`(arguments: [String], sentence: String) {
        #expect { try Humon.parseAsRoot(arguments) } throws: { Humon.fullMessage(for: $0).contains(sentence) }
    }
}
