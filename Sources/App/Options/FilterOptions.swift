internal import ArgumentParser
internal import EventStore

/// The kinds of recorded events that the user wants.
struct FilterOptions: ParsableArguments {
    private static let knownTypes = Backend.domainEvents.flatMap { $0.storedTypes.map(\.name) }
    private static let knownCategories = Backend.domainEvents.map { $0.category }

    @Option(
        name: .customLong("type"), help: "Only domain events of this type, such as EventCreated; repeatable.",
        completion: .list(knownTypes))
    var types: [String] = []

    @Option(
        name: .customLong("category"), help: "Only streams of this category, such as event; repeatable.",
        completion: .list(knownCategories))
    var categories: [String] = []

    var filter: LogFilter { LogFilter(categories: Set(categories), types: Set(types)) }

    /// A search for a misspelt name would find no events, and look like a result.
    /// - Throws: `ValidationError` for an unknown name
    func validate() throws {
        for type in types { try Self.require(type, among: Self.knownTypes, "type") }
        for category in categories { try Self.requireCategory(category) }
    }

    /// - Throws: `ValidationError` for an unknown category
    static func requireCategory(_ name: String) throws {
        try require(name, among: knownCategories, "category")
    }

    private static func require(_ name: String, among known: [String], _ kind: String) throws {
        guard !known.contains(name) else { return }
        throw ValidationError("There is no \(kind) \(harmless(name)). Known: \(known.joined(separator: ", ")).")
    }
}
