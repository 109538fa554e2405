/// What a module registers. The log, the tools and the checks know a module by this value alone; App has the one list of all modules.
///
/// Rejections need no entry: ``Rejection/kind`` says how HTTP answers them.
public struct ModuleRegistration: Sendable {
    /// In lower case, such as `users`.
    public let name: String
    /// The domain event types, one for each category of streams.
    public let domainEvents: [any DomainEvent.Type]
    /// The projections of the module. Their read models change in the append's transaction.
    public let projections: [any Projection]
    /// The sequences that number streams; empty if the module derives its keys from other values.
    public let idSequences: [IDSequence]

    public init(
        _ name: String, domainEvents: [any DomainEvent.Type], projections: [any Projection], idSequences: [IDSequence] = []
    ) {
        self.name = name
        self.domainEvents = domainEvents
        self.projections = projections
        self.idSequences = idSequences
    }
}

/// A list of modules that cannot work, one sentence for each violation.
public struct ModuleListError: Error, Hashable, CustomStringConvertible {
    public var violations: [String]
    public var description: String { "The list of modules is wrong. " + violations.joined(separator: " ") }
}

extension ModuleRegistration {
    /// Checks what the compiler cannot: names that must be unique, and names that SQL or a stream's name cannot hold.
    /// - Throws: ``ModuleListError`` with every violation
    public static func check(_ modules: [ModuleRegistration]) throws(ModuleListError) {
        let violations =
            repeated(modules.map(\.name)).map { "Two modules have the name \($0)." }
            + repeated(modules.flatMap { $0.domainEvents.map { $0.category } }).map {
                "Two domain event types have the category \($0)."
            }
            + repeated(modules.flatMap { $0.projections.map { type(of: $0).name } }).map {
                "Two projections have the name \($0)."
            }
            + repeated(modules.flatMap { $0.idSequences.map(\.name) }).map { "Two categories take their ids from \($0)." }
            + modules.strangers.map { "Streams belong to persons of the category \($0), which has no persons." }
            + modules.flatMap(\.violations)
        guard violations.isEmpty else { throw ModuleListError(violations: violations) }
    }

    private var violations: [String] {
        let categories = Set(domainEvents.map { $0.category })
        let names: [(what: String, name: String)] =
            [("name", name)] + domainEvents.map { ("category", $0.category) }
            + projections.map { ("projection", type(of: $0).name) }
        let unusable = names.filter { !Self.isIdentifier($0.name) }.map { what, name in
            "The \(what) \"\(name)\" of the module \(self.name) must consist of lower-case letters, digits and underscores"
                + (name.contains("-") ? ": the first dash ends the category in a stream's name." : ".")
        }
        let foreign =
            projections.filter { !categories.contains($0.category) }.map {
                "The projection \(type(of: $0).name) folds the category \($0.category), which the module \(name) does not have."
            }
            + idSequences.filter { !categories.contains($0.category) }.map {
                "The sequence \($0.name) numbers the category \($0.category), which the module \(name) does not have."
            }
        let misnamed = domainEvents.flatMap { domainEvent in
            let erasure = StoredType.erasure(of: domainEvent.category)
            return domainEvent.storedTypes.map(\.name).filter { StoredType.isErasure($0) && $0 != erasure }
        }.map { "The stored type \($0) does not end a stream: the log knows an erasure by the name of its category and Erased." }
        let endless = domainEvents.filter { domainEvent in
            (domainEvent.personal.isPerson || domainEvent.personal.streams != nil)
                && !domainEvent.storedTypes.contains { $0.name == StoredType.erasure(of: domainEvent.category) }
        }.map {
            "The category \($0.category) tells about a person, and has no stored type \(StoredType.erasure(of: $0.category)), "
                + "which would end that."
        }
        let salted = domainEvents.filter { $0.personal.names.contains(PersonalText.salt) }.map {
            "The category \($0.category) has a personal member \(PersonalText.salt), which the log adds by itself."
        }
        return unusable + foreign + misnamed + endless + salted
            + domainEvents.flatMap { Self.violations(of: $0.storedTypes, in: $0.category) }
    }

    private static func violations(of storedTypes: [StoredType], in category: String) -> [String] {
        let empty = storedTypes.isEmpty ? ["The category \(category) has no stored types."] : []
        let twice = repeated(storedTypes.map(\.name)).map { "The category \(category) has two stored types \($0)." }
        let unreadable = storedTypes.filter { !(1...$0.currentFormat).contains($0.writtenFormat ?? 1) }.map {
            "\($0.name) of the category \(category) is written in a format that it does not read."
        }
        return empty + twice + unreadable
    }

    /// Each name that occurs more than once.
    private static func repeated(_ names: [String]) -> [String] {
        Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }

    private static func isIdentifier(_ name: String) -> Bool { name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil }
}

extension [ModuleRegistration] {
    public var domainEvents: [any DomainEvent.Type] { flatMap(\.domainEvents) }
    public var projections: [any Projection] { flatMap(\.projections) }
    public var idSequences: [IDSequence] { flatMap(\.idSequences) }
    /// The streams that belong to persons of other categories.
    var personalStreams: [PersonalStreams] { domainEvents.compactMap { $0.personal.streams } }

    /// The domain event types whose streams are persons.
    var persons: [any DomainEvent.Type] { domainEvents.filter { $0.personal.isPerson } }

    /// The categories that streams name as those of persons, and that are not.
    fileprivate var strangers: [String] {
        Set(personalStreams.map(\.category)).subtracting(persons.map { $0.category }).sorted()
    }
}
