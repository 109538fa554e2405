import Encoding
import Testing

@testable import EventStore

@Suite struct `The arguments of a report` {
    private static let now = Timestamp(milliseconds: 1_379_289_600_123)
    private static let parameters = [
        ReportParameter("at", .time, "When."), ReportParameter("name", .text, "Who."),
        ReportParameter("limit", .number(1...10_000), usual: "20", "How many."),
        ReportParameter("before", .number(1...(.max)), "Where."), ReportParameter("category", .word(["tea", "cup"]), "Which."),
        ReportParameter("reveal", .flag, "Whether."),
    ]

    private static func arguments(_ texts: [String: [String]]) throws(ReportArgumentError) -> ReportArguments {
        try ReportArguments(texts, for: parameters, now: now)
    }

    @Test(arguments: [
        ("2013-09-15T17:00:00-07:00", "2013-09-16T00:00:00.000Z"), ("2013-09-15", "2013-09-15T00:00:00.000Z"),
        ("90s", "2013-09-15T23:58:30.123Z"), ("30m", "2013-09-15T23:30:00.123Z"), ("2h", "2013-09-15T22:00:00.123Z"),
        ("7d", "2013-09-09T00:00:00.123Z"), ("9999999999d", "0000-01-01T00:00:00.000Z"),
    ])
    func `a time is a moment, a date or an age`(text: String, moment: String) throws {
        #expect(try Self.arguments(["at": [text]]).time("at")?.description == moment)
    }

    @Test(arguments: ["", "d", "h", "-2h", "2w", "2 h", "yesterday", "2013-13-01", "2013-09-15T17:00", "99999999999s", "٣d"])
    func `a text that is no time is refused`(text: String) {
        #expect(throws: ReportArgumentError.self) { try Self.arguments(["at": [text]]) }
    }

    @Test(arguments: [
        ("limit", "0", "The limit must be a whole number from 1 to 10000."),
        ("limit", "10001", "The limit must be a whole number from 1 to 10000."),
        ("before", "0", "The before must be a whole number from 1."), ("name", "", "The name must not be empty."),
        ("category", "pot", "There is no category pot. Known: tea, cup."),
    ])
    func `an unusable text is refused with a sentence that names the parameter`(name: String, text: String, sentence: String) {
        #expect { try Self.arguments([name: [text]]) } throws: { ($0 as? ReportArgumentError)?.description == sentence }
    }

    @Test func `a parameter without a text has its usual value, or none`() throws {
        let none = try Self.arguments([:])
        #expect((none.number("limit"), none.number("before"), none.text("name")) == (20, nil, nil))
        #expect(!none.isSet("reveal") && none.texts("category").isEmpty)
        let some = try Self.arguments(["limit": ["7"], "category": ["tea", "cup"], "reveal": ["yes"]])
        #expect(some.number("limit") == 7)
        #expect(some.isSet("reveal") && some.texts("category") == ["tea", "cup"])
    }
}

@Suite struct `The reports of a list of modules` {
    private static let ownReport = OperatorReport("tea list", "List the cups.") { _ in .complete() }

    @Test func `the reports of the log, of what follows it, and of each module have different names`() {
        let module = ModuleRegistration("tea", domainEvents: [], projections: [], operatorReports: [Self.ownReport])
        let names = [module].operatorReports.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isSuperset(of: ["log search", "streams list", "projections list", "subscriptions list", "tea list"]))
    }
}
