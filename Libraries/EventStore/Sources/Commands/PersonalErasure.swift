internal import Foundation
public import Postgres

/// The streams of one module that tell about a person, besides the stream of the person. An erasure of the person erases them, too.
public struct PersonalStreams: Sendable {
    public typealias Find = @Sendable (_ person: Int64, _ database: PostgresClient) async throws -> [PersonalStream]

    /// The category of the streams of the persons, such as `user`.
    let category: String
    let find: Find

    /// - Parameters:
    ///   - category: the category of the streams of the persons, such as `user`. A person's id is the actor of all that it does
    ///   - find: finds the streams of a person, also those that no list shows any more. Throws `ReadModelError.behind`, `PostgresError`
    public init(of category: String, find: @escaping Find) {
        self.category = category
        self.find = find
    }
}

/// One stream, and the domain event that ends it.
public struct PersonalStream: Sendable {
    public var name: StreamName
    /// Its stored name ends with `Erased`.
    var erasure: any DomainEvent

    public init(_ name: StreamName, endsWith erasure: any DomainEvent) {
        self.name = name
        self.erasure = erasure
    }
}

/// Erases persons: the streams of all modules that tell about one person, in one append.
public struct PersonalErasure: Sendable {
    private let category: String
    private let parts: [PersonalStreams]
    private let database: PostgresClient
    private let readModels: ReadModels

    /// - Parameter category: the category of the streams of the persons, such as `user`
    public init(of category: String, _ context: ModuleContext) {
        self.category = category
        parts = context.modules.flatMap(\.personalStreams).filter { $0.category == category }
        database = context.database
        readModels = ReadModels(projections: context.modules.projections, client: database, logger: context.logger)
    }

    /// How long the drop of a copy waits for its readers. A longer wait would keep new readers of the copy waiting, too.
    private static let lockSeconds = 2

    /// Drops the copies of read models that no append changes: those before the last rebuild, and those of other versions that no server
    /// uses. They would show erased persons. A rollback needs a rebuild then, so that only an operator may ask for it.
    /// - Returns: the schemas that a server, a command or a reader uses, and which are left
    /// - Throws: `PostgresError`, `CancellationError`
    public func dropOldReadModels() async throws -> [String] { try await readModels.pruneUnused(lockSeconds: Self.lockSeconds) }

    /// What the log has of a person.
    public struct Extent: Sendable {
        /// In the order of the modules.
        public var streams: [PersonalStream]
        /// The version of the person's own stream; 0 if there is none.
        public var version: Int32
        /// Whether the person's own stream ends with an erasure.
        public var isErased: Bool
        /// The end of the log before anything was read.
        var tail: Int64
    }

    /// - Throws: `ReadModelError.behind`, `PostgresError`, `CancellationError`
    public func extent(of person: Int64) async throws -> Extent {
        let reader = LogReader(client: database)
        let tail = try await reader.tail()
        let last = try await reader.newest(of: stream(of: person))?.envelope
        var streams: [PersonalStream] = []
        for part in parts { streams += try await part.find(person, database) }
        return Extent(
            streams: streams, version: last?.version ?? 0, isErased: last.map { StoredType.isErasure($0.event.type) } ?? false,
            tail: tail)
    }

    /// Counts what an erasure ends.
    /// - Throws: `PostgresError`, `CancellationError`
    public func figures(of person: Int64, _ extent: Extent) async throws -> Figures {
        let streams = [stream(of: person)] + extent.streams.map(\.name)
        let names = streams.map(\.description)
        let counts = try await database.query(
            """
            SELECT (SELECT coalesce(sum(version), 0) FROM log.versions(\(names)))::bigint,
                (SELECT count(*) FROM log.commands WHERE stream = ANY(\(names))),
                (SELECT count(*) FROM log.parked_streams WHERE stream = ANY(\(names)))
            """
        ).decode((Int64, Int64, Int64).self)
        let (events, commands, parked) = counts.first ?? (0, 0, 0)
        return Figures(
            streams: Dictionary(grouping: streams, by: \.category).mapValues(\.count), recordedEvents: events,
            commands: commands, parkedStreams: parked)
    }

    /// What an erasure ends.
    public struct Figures: Sendable {
        /// By category.
        public var streams: [String: Int]
        public var recordedEvents: Int64
        public var commands: Int64
        public var parkedStreams: Int64
    }

    /// Decides the erasure of a person. If the person did something after the extent was read, the decision is not recorded.
    /// - Parameters:
    ///   - erased: the last domain event of the person's own stream
    ///   - actor: the id of the person who asked; `nil` for an operator
    /// - Returns: a decision without domain events if the person is erased already
    /// - Throws: `PostgresError`, `CancellationError`
    public func decision(
        for person: Int64, _ extent: Extent, recording erased: any DomainEvent, by actor: Int64?
    ) async throws -> Decision {
        guard !extent.isErased else { return Decision([], to: stream(of: person), after: extent.version, by: actor) }
        let found = try await database.query(
            "SELECT stream, version FROM log.versions(\(extent.streams.map(\.name.description)))"
        ).decode((String, Int32).self)
        let versions = Dictionary(found) { first, _ in first }
        var decision = Decision([erased], to: stream(of: person), after: extent.version, by: actor)
        decision.others = extent.streams.map {
            StreamAppend([$0.erasure], to: $0.name, after: versions[$0.name.description] ?? 0)
        }
        decision.conditions = [.noEvents(by: person, after: extent.tail)]
        return decision
    }

    private func stream(of person: Int64) -> StreamName { StreamName(category: category, key: String(person)) }
}
