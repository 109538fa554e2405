/// What a module stores: its domain events, read models and numbers. The log, the tools and the checks know a module by this value alone;
/// App has the one list of all modules.
///
/// Rejections need no entry: ``Rejection/kind`` says how HTTP answers them.
public struct StoredModule: Sendable {
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

extension [StoredModule] {
    public var domainEvents: [any DomainEvent.Type] { flatMap(\.domainEvents) }
    public var projections: [any Projection] { flatMap(\.projections) }
    public var idSequences: [IDSequence] { flatMap(\.idSequences) }
    /// The streams that belong to persons of other categories.
    var personalStreams: [PersonalStreams] { domainEvents.compactMap { $0.personal.streams } }

    /// The domain event types whose streams are persons.
    var persons: [any DomainEvent.Type] { domainEvents.filter { $0.personal.isPerson } }
}
