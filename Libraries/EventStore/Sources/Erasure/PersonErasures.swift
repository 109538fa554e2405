public import Foundation
internal import Postgres
internal import Synchronization

/// The person to be erased does not exist.
public struct UnknownPersonError: Rejection, Hashable {
    public var kind: RejectionKind { .notFound }
}

extension RecordedEvent {
    fileprivate var isErasure: Bool { envelope.event.type == StoredType.erasure(of: envelope.stream.category) }
}

/// The domain event that erased a person, and what became of it.
public struct PersonErasure: Sendable {
    /// The id of the domain event. Nobody can guess it, so that it may name the erasure where the person has no other proof.
    public var id: UUID
    /// No token of the person is alive from here on.
    public var position: Int64
    /// Nothing is left of the person from here on. `nil` if something is, which ends later.
    public var end: Int64?
}

/// What became of the erasures of persons.
public final class PersonErasures: Sendable {
    /// How long the caller of an erasure waits for its end.
    private static let patience = Duration.seconds(10)
    /// Maximum number of callers that wait. A further caller learns at once that something is left.
    private static let waitLimit = 32

    private let waiting = Mutex(0)

    private let parts: [PersonalStreams]
    /// The names of the domain events that erase persons.
    private let types: [String]
    private let list: ErasureList?
    private let database: PostgresClient
    private let dependencies: Dependencies

    public init(_ composition: Composition) {
        parts = composition.modules.personalStreams
        types = composition.modules.persons.map { StoredType.erasure(of: $0.category) }
        list = composition.find()
        database = composition.database
        dependencies = composition.dependencies
    }

    /// Erases a person. A repetition changes nothing. No token of the person is alive from the append on. ``ErasureSubscription`` does the
    /// rest, for which this function waits ten seconds at most.
    /// - Parameters:
    ///   - person: the stream of the person
    ///   - erased: the domain event that ends the stream
    ///   - actor: the id of the user who asked; `nil` for an operator
    ///   - commands: of the person's module
    /// - Returns: the erasure, and whether the person was erased before
    /// - Throws: ``UnknownPersonError``, and the errors of ``CommandHandler/handle(_:by:_:)``
    public func erase(
        _ person: StreamName, with erased: any DomainEvent, by actor: Int64?, _ commands: CommandHandler,
        _ context: CommandContext
    ) async throws -> (erasure: PersonErasure, wasErased: Bool) {
        var wasErased = false
        _ = try await commands.handle(context) {
            let last = try await last(of: person)
            wasErased = last.isErasure
            let version = last.envelope.version
            return wasErased
                ? Decision([], to: person, after: version, by: nil) : decision(erased, of: person, after: version, by: actor)
        }
        guard let erasure = try await erasure(of: person) else { throw UnknownPersonError() }
        return (erasure, wasErased)
    }

    /// Decides to erase a person. The domain event gets a random id: the ids of others begin with their time, and entity tags show a
    /// part of them.
    public func decision(
        _ erased: any DomainEvent, of person: StreamName, after version: Int32, by actor: Int64?
    ) -> Decision {
        Decision(erased, to: person, after: version, by: actor, id: dependencies.randomUUID())
    }

    private func last(of person: StreamName) async throws -> RecordedEvent {
        guard let last = try await LogReader(client: database).newest(of: person) else { throw UnknownPersonError() }
        return last
    }

    /// Counts what an erasure of a person ends; `nil` if the person is erased already.
    /// - Throws: ``UnknownPersonError``, `ReadModelError.behind`, `PostgresError`, `FormatError`, `CancellationError`
    public func figures(of person: StreamName) async throws -> Figures? {
        guard try await !last(of: person).isErasure else { return nil }
        var streams = [person]
        for part in parts where part.category == person.category {
            guard let id = person.keyAsID else { break }
            streams += try await part.find(id, database).map(\.name)
        }
        let names = streams.map(\.description)
        let counts = try await database.query(
            """
            SELECT (SELECT coalesce(sum(version), 0) FROM (\(LogReader.versions(of: names))) AS v)::bigint,
                (SELECT count(*) FROM log.commands WHERE owner = \(person.description)),
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

    /// What became of a person, after a wait of ten seconds at most.
    /// - Parameter stream: the stream of the person
    /// - Returns: `nil` if the person is not erased
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    public func erasure(of stream: StreamName) async throws -> PersonErasure? {
        guard let last = try await LogReader(client: database).newest(of: stream), last.isErasure else { return nil }
        return PersonErasure(
            id: last.envelope.id, position: last.position,
            end: try await end(of: stream, at: last.position, within: Self.patience))
    }

    /// What became of a person by now.
    /// - Parameter id: the id of the domain event that erased the person
    /// - Returns: `nil` if no person was erased by a domain event of this id
    /// - Throws: `PostgresError`, `CancellationError`
    public func erasure(_ id: UUID) async throws -> PersonErasure? {
        let found = try await database.query(
            "SELECT stream, position FROM log.recorded_events WHERE id = \(id) AND type = ANY(\(types))"
        ).decode((String, Int64).self)
        guard let (stream, position) = found.first else { return nil }
        return PersonErasure(id: id, position: position, end: try await look(at: StreamName(stream), position).end)
    }

    /// Waits until nothing is left of a person.
    /// - Parameters:
    ///   - position: the position of the domain event that erased the person
    ///   - time: the longest wait
    /// - Returns: the position from which on nothing is left. `nil` if the subscription is under way, waits for a leader, or parked a
    ///   stream of the person, and if the ``ErasureList`` of this process lacks the erasure
    /// - Throws: `PostgresError`, `CancellationError`
    func end(of person: StreamName, at position: Int64, within time: Duration) async throws -> Int64? {
        let mayWait = waiting.withLock { waiting in
            waiting += 1
            return waiting <= Self.waitLimit
        }
        defer { waiting.withLock { $0 -= 1 } }
        let clock = ContinuousClock()
        let deadline = clock.now + time
        var backOff = BackOff(firstSeconds: 0.01, longestSeconds: 0.5)
        while true {
            let (end, isParked) = try await look(at: person, position)
            guard end == nil, !isParked, mayWait, clock.now < deadline else { return end }
            try await dependencies.sleep(backOff.next())
        }
    }

    /// Before the subscription passes an erasure of the person, it appends the next ones. So nothing is left of the person when none of them
    /// is behind the subscription or parked. A busy log does not delay this answer, nor do erasures of others.
    /// - Returns: the position from which on nothing is left, and whether a stream of the person is parked
    private func look(at person: StreamName, _ position: Int64) async throws -> (end: Int64?, isParked: Bool) {
        let requestID = ErasureSubscription.requestID(of: person)
        let found = try await database.query(
            """
            SELECT s.position, s.position < \(position) OR EXISTS (
                SELECT FROM log.recorded_events AS e
                WHERE e.type LIKE '%Erased' AND e.metadata ->> 'request_id' = \(requestID) AND e.position > s.position
            ), EXISTS (
                SELECT FROM log.parked_streams AS p JOIN log.recorded_events AS e ON e.position = p.position
                WHERE p.subscription = \(ErasureSubscription.subscription)
                    AND (p.position = \(position) OR e.metadata ->> 'request_id' = \(requestID))
            )
            FROM log.subscriptions AS s WHERE s.name = \(ErasureSubscription.subscription) ORDER BY s.position DESC LIMIT 1
            """
        ).decode((Int64, Bool, Bool).self)
        guard let (reached, isUnderWay, isParked) = found.first else { return (nil, false) }
        guard !isUnderWay, !isParked, list?.hasMirrored(position) != false else { return (nil, isParked) }
        return (reached, isParked)
    }
}
