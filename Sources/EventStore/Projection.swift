public import Postgres

/// Keeps one read model in step with the log. Written once, run in the append's transaction and in a rebuild alike.
public protocol Projection: Sendable {
    associatedtype Event: DomainEvent
    /// Row changes, computed from domain events alone.
    associatedtype Changes: Sendable

    /// The schema that the read model's tables live in; the module's own.
    static var schema: String { get }

    /// To be raised whenever the tables or the fold change; the read model is then to be rebuilt.
    static var version: Int32 { get }

    /// The statements that create the tables in an empty schema.
    static func tables(in schema: String) -> String

    /// What these do to the rows. Pure; they come in the order of the log.
    func fold(_ occurrences: [Occurrence<Event>]) -> Changes

    /// Writes the changes in bulk. No statement where there is nothing to write.
    func statements(for changes: Changes, in schema: String) -> [SQL]
}

extension Projection {
    /// Folds those that are this projection's and gives the statements that write them.
    func statements(for occurrences: [Occurrence<any DomainEvent>], in schema: String) -> [SQL] {
        let own = occurrences.compactMap { occurrence in occurrence.map { $0 as? Event } }
        return own.isEmpty ? [] : statements(for: fold(own), in: schema)
    }

    /// The same for events read from the log.
    /// - Throws: ``FormatError`` with the position, where one of them cannot be read.
    func statements(for recorded: [RecordedEvent], in schema: String) throws -> [SQL] {
        let own = try recorded.filter { $0.occurrence.stream.category == Event.category }.compactMap { recorded in
            try recorded.occurrence.map { stored in
                do {
                    return try Event.decode(type: stored.type, format: stored.format, data: stored.data)
                } catch let error as FormatError {
                    throw FormatError("position \(recorded.position): \(error)")
                }
            }
        }
        return own.isEmpty ? [] : statements(for: fold(own), in: schema)
    }
}
