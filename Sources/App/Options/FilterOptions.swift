internal import ArgumentParser
internal import EventStore

/// Which kinds of recorded events are wanted.
struct FilterOptions: ParsableArguments {
    private static let knownTypes = Backend.domainEvents.flatMap { $0.storedTypes.map(\.name) }
    private static let knownCategories = Backend.domainEvents.map { $0.category }

    @Option(
        name: .customLong("type"), help: "Only domain events of this type, such as EventCreated; may be given again.",
        completion: .list(knownTypes))
    var types: [String] = []

    @Option(
        name: .customLong("category"), help: "Only streams of this category, such as event; may be given again.",
        completion: .list(knownCategories))
    var categories: [String] = []

    var filter: LogFilter { LogFilter(categories: Set(categories), types: Set(types)) }

    /// A misspelt name would find nothing, and look like an answer.
    func validate() throws {
        for type in types { try Self.require(type, among: Self.knownTypes, "type") }
        for category in categories { try Self.requireCategory(category) }
    }

    static func requireCategory(_ name: String) throws {
        try require(name, among: knownCategories, "category")
    }

    private static func require(_ name: String, among known: [String], _ kind: String) throws {
        guard !known.contains(name) else { return }
        throw ValidationError("There is no \(kind) \(harmless(name)). There are: \(known.joined(separator: ", ")).")
    }
}
