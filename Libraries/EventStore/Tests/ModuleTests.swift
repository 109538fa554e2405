import Encoding
import Postgres
import Testing

@testable import EventStore

@Suite struct `Checking the list of modules` {
    private static let counters = ModuleRegistration(
        "counters", domainEvents: [Counted.self], projections: [SumProjection()],
        idSequences: [IDSequence(category: "counter", name: "log.counter_ids")])

    @Test func `modules with different names and categories are accepted`() throws {
        let teas = ModuleRegistration("teas", domainEvents: [TeaDomainEvent.self], projections: [])
        try ModuleRegistration.check([Self.counters, teas])
        #expect([Self.counters, teas].domainEvents.map { $0.category } == ["counter", "tea"])
        #expect([Self.counters, teas].projections.map { type(of: $0).name } == ["sums"])
        #expect([Self.counters, teas].idSequences.map(\.name) == ["log.counter_ids"])
    }

    @Test(arguments: [
        (
            [counters, ModuleRegistration("others", domainEvents: [Counted.self], projections: [])],
            "Two domain event types have the category counter."
        ),
        (
            [counters, ModuleRegistration("counters", domainEvents: [TeaDomainEvent.self], projections: [])],
            "Two modules have the name counters."
        ),
        (
            [ModuleRegistration("counters", domainEvents: [Counted.self], projections: [SumProjection(), SumProjection()])],
            "Two projections have the name sums."
        ),
        (
            [
                ModuleRegistration(
                    "counters", domainEvents: [Counted.self, TeaDomainEvent.self], projections: [],
                    idSequences: [IDSequence(category: "counter", name: "log.ids"), IDSequence(category: "tea", name: "log.ids")])
            ], "Two categories take their ids from log.ids."
        ),
        (
            [ModuleRegistration("orders", domainEvents: [OrderLine.self], projections: [])],
            "The category \"order-line\" of the module orders must consist of lower-case letters, digits and underscores: "
                + "the first dash ends the category in a stream's name."
        ),
        (
            [ModuleRegistration("Teas", domainEvents: [TeaDomainEvent.self], projections: [])],
            "The name \"Teas\" of the module Teas must consist of lower-case letters, digits and underscores."
        ),
        (
            [ModuleRegistration("teas", domainEvents: [TeaDomainEvent.self], projections: [SumProjection()])],
            "The projection sums folds the category counter, which the module teas does not have."
        ),
        (
            [
                ModuleRegistration(
                    "teas", domainEvents: [TeaDomainEvent.self], projections: [],
                    idSequences: [IDSequence(category: "cup", name: "log.cup_ids")])
            ], "The sequence log.cup_ids numbers the category cup, which the module teas does not have."
        ),
        (
            [ModuleRegistration("reviews", domainEvents: [Review.self], projections: [])],
            "Streams belong to persons of the category reader, which has no persons. "
                + "The category review tells about a person, and has no stored type ReviewErased, which would end that."
        ),
        (
            [ModuleRegistration("untold", domainEvents: [Untold.self], projections: [])],
            "The category untold has no stored types."
        ),
        (
            [ModuleRegistration("twice", domainEvents: [ToldTwice.self], projections: [])],
            "The category twice has two stored types Told. Told of the category twice is written in a format that it does not read."
        ),
    ])
    func `a list of modules that cannot work is refused with the reason`(modules: [ModuleRegistration], reason: String) {
        #expect {
            try ModuleRegistration.check(modules)
        } throws: {
            "\($0)" == "The list of modules is wrong. \(reason)"
        }
    }

    /// The words of a reader that nothing ends.
    private struct Review: Declared {
        static let (category, storedTypes) = ("review", [StoredType("ReviewWritten")])
        static let personal = PersonalMembers(["text"], of: PersonalStreams(of: "reader") { _, _ in [] })
    }

    private struct OrderLine: Declared { static let (category, storedTypes) = ("order-line", [StoredType("Ordered")]) }
    private struct Untold: Declared { static let (category, storedTypes) = ("untold", [StoredType]()) }
    private struct ToldTwice: Declared {
        static let (category, storedTypes) = ("twice", [StoredType("Told"), StoredType("Told", writing: .format(2))])
    }
}

/// A domain event of which a list of modules checks the declarations only.
private protocol Declared: DomainEvent { init() }

extension Declared {
    static var personal: PersonalMembers { .none }
    init(type: String, content: EventContent) { self.init() }
    var stored: (type: String, data: JSON) { ("", [:]) }
}
