package import Logging
package import Postgres

/// What a process keeps in memory of one read model. ``InMemoryReadModel`` loads it and keeps it in step with the log.
///
/// Requests read the content while it changes, so it must be thread-safe. The model makes one change at a time.
package protocol InMemoryContent: AnyObject, Sendable {
    associatedtype Event: DomainEvent

    /// The subject of the model's log lines and its verb, such as "the index" and "is".
    static var name: (subject: String, verb: String) { get }
    /// The projection of the read model that the content is loaded from.
    static var source: any Projection.Type { get }
    /// Maximum number of recorded events in one batch from the log, because commits wait for the batch.
    static var pageLimit: Int64 { get }
    /// Selects what ``count`` would be after a load.
    static var countQuery: SQL { get }

    /// Number of things in the content.
    var count: Int { get }
    /// Bytes of memory that the content takes.
    var bytes: Int { get }
    /// Maximum of the content's bytes or things.
    var limit: Int { get }

    /// Reads the tables of the read model in one transaction.
    /// - Returns: a closure that puts the rows into the content. The content is empty and not in use when the model calls it
    /// - Throws: ``InMemoryLimitError``, and the errors of the connection
    func load(_ connection: LeasedConnection, logger: Logger) async throws -> @Sendable (LogCursor) -> Void

    /// Applies the next recorded events of the category of ``Event``. The content then holds the log up to `end`.
    func apply(_ events: ArraySlice<(position: Int64, envelope: EventEnvelope<any DomainEvent>)>, through end: LogCursor)

    /// Removes everything. The content is out of use.
    func removeAll()

    /// - Throws: ``InMemoryLimitError``
    func checkLimit() throws

    /// Compares the content with the tables of the read model.
    /// - Returns: `nil` if they cannot be compared now
    func agrees(in model: InMemoryReadModel<Self>) async throws -> Bool?
}

/// The content exceeds the memory that it may take.
package struct InMemoryLimitError: Error, Hashable, CustomStringConvertible {
    /// Number of things that do not fit.
    package var count: Int
    package var description: String

    package init(count: Int, description: String) {
        self.count = count
        self.description = description
    }
}

/// The content may be wrong, because the log or the read model's tables are not the ones that it was loaded from.
package struct InMemoryReplacedError: Error, Hashable, CustomStringConvertible {
    package var description: String { "the read model or the log is not the one that was loaded" }
}
