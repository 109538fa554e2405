public import Foundation
internal import Postgres
internal import Synchronization

/// Ends what the log, the read models and the records of commands have of an erased person.
///
/// A person is erased by one domain event, such as `UserErased`: from its commit on no command of the person succeeds. The subscription
/// then ends all other streams of the person by domain events such as `EventErased`. These come later in the log. Each such event, of
/// persons and of other streams, is the task to end the personal members of its stream, and then the next page of the person's streams.
/// So the log itself is the list of what is left: a node that dies in the middle leaves the rest to the next leader, and the pages of one
/// person leave room for other persons between them. One stream has no pages: the words of all its recorded events end at once.
///
/// No part takes the log's lock for long: an append has at most ``streamsAtOnce`` streams, and personal members end without the lock.
/// docs/decisions/0059-personal-members.md
public struct Erasure: Subscription {
    public static let subscription = "erasures"
    /// Maximum number of streams in one append.
    static let streamsAtOnce = 100
    /// Number of streams, and of their recorded events, after which other persons have their turn.
    static let page = (streams: 300, rows: 3_000)
    /// Maximum number of recorded events, and of commands, that one transaction changes.
    static let rowsAtOnce = 1_000
    /// How long the words of a stream wait for a lock.
    private static let lockTimeout = "1s"

    public let name = subscription
    public let filter: LogFilter
    var parts: [PersonalStreams]
    private let log: EventLog
    private let database: PostgresClient
    private let dependencies: Dependencies
    private let found = FoundStreams()

    public init(_ composition: Composition) {
        filter = Self.filter(of: composition.modules)
        parts = composition.modules.personalStreams
        log = composition.log
        database = composition.database
        dependencies = composition.dependencies
    }

    /// Selects the erasures of all modules.
    public static func filter(of modules: [StoredModule]) -> LogFilter {
        let erasures = Set(modules.domainEvents.flatMap { $0.storedTypes.map(\.name) }.filter(StoredType.isErasure))
        // An empty set would select everything.
        precondition(!erasures.isEmpty, "no module has an erasure")
        return LogFilter(types: erasures)
    }

    /// Ends the personal members of the events' own streams, and the next streams of the persons whom the events erase. A repetition finds
    /// nothing left.
    /// - Throws: the errors of ``EventLog/append(_:)``, `ReadModelError.behind`, `PostgresError`, `FormatError`, `CancellationError`
    public func perform(_ events: [RecordedEvent]) async throws {
        let persons = try persons(of: events)
        let streams = Set(events.map(\.envelope.stream)).subtracting(persons).map(\.description).sorted()
        while !streams.isEmpty, try await erase(streams) {}
        for person in persons {
            let isAppended = try await endNextStreams(of: person)
            // The commands of a person may be many: as long as pages follow, each ends some.
            while try await erase([person.description]), !isAppended {}
        }
    }

    /// The persons whom the events erase, new ones first, and those whose other streams they end.
    /// - Throws: `FormatError`
    private func persons(of events: [RecordedEvent]) throws -> [StreamName] {
        let own = events.map(\.envelope.stream).filter { stream in parts.contains { $0.category == stream.category } }
        let begun = try events.compactMap { Self.person(of: try $0.envelope.metadata.values().requestID) }
        var known: Set<StreamName> = []
        return (own + begun).filter { known.insert($0).inserted }
    }

    /// Ends personal members of streams, and commands of persons.
    /// - Returns: whether some may be left
    private func erase(_ streams: [String]) async throws -> Bool {
        let ended = try await database.run([
            "SELECT set_config('lock_timeout', \(Self.lockTimeout), true)",
            "SELECT log.erase(\(streams), \(Int32(Self.rowsAtOnce)))",
        ])[1].decode(Int64.self)
        return ended != [0]
    }

    /// Appends the erasures of the next page of a person's streams. The subscription comes to them later, and then to the next page. Others
    /// may change the streams meanwhile, such as an operator who hides an event.
    /// - Returns: false if no stream is left
    private func endNextStreams(of person: StreamName) async throws -> Bool {
        var left = found[person]
        var (streams, rows, isNew) = (0, 0, false)
        while streams < Self.page.streams, rows < Self.page.rows {
            if left.isEmpty {
                // None of the streams that were just found is left.
                if isNew { break }
                left = try await unended(of: person)[...]
                isNew = true
                continue
            }
            let page = try await versions(of: left.prefix(Self.streamsAtOnce))
            var (count, appends): (Int, [StreamAppend]) = (0, [])
            for (stream, version) in page where appends.isEmpty || rows < Self.page.rows {
                count += 1
                guard let version else { continue }
                appends.append(StreamAppend([stream.erasure], to: stream.name, after: version))
                rows += Int(version)
            }
            left = left.dropFirst(count)
            guard !appends.isEmpty else { continue }
            let request = AppendRequest(
                id: dependencies.newDomainEventID, streams: appends, recordedAt: dependencies.now(),
                metadata: Metadata(requestID: Self.requestID(of: person), actor: nil, traceID: nil))
            isNew = false
            if case .conflict = try await log.append(request) {
                // Another writer was faster. The next look finds these streams again.
                rows = 0
                try await dependencies.sleep(.milliseconds(50))
            } else {
                streams += appends.count
            }
        }
        found[person] = left
        return streams > 0
    }

    /// The streams of a person, each once although several modules may find it, without those that the erasure has ended.
    private func unended(of person: StreamName) async throws -> [PersonalStream] {
        guard let id = person.keyAsID else { return [] }
        var streams: [PersonalStream] = []
        for part in parts where part.category == person.category { streams += try await part.find(id, database) }
        guard !streams.isEmpty else { return [] }
        let ended = try await database.query(
            """
            SELECT stream FROM log.recorded_events
            WHERE type LIKE '%Erased' AND metadata ->> 'request_id' = \(Self.requestID(of: person))
            """
        ).decode(String.self)
        var known = Set(ended)
        return streams.filter { known.insert($0.name.description).inserted }
    }

    /// The versions of streams; `nil` for one that is erased already.
    private func versions(of streams: ArraySlice<PersonalStream>) async throws -> [(PersonalStream, Int32?)] {
        let found = try await database.query(
            "SELECT stream, version FROM log.versions(\(streams.map(\.name.description))) WHERE NOT log.is_erased(stream)")
        let versions = Dictionary(uniqueKeysWithValues: try found.decode((String, Int32).self))
        return streams.map { ($0, versions[$0.name.description]) }
    }

    static let requestPrefix = "erasure of "

    /// The request id in the metadata of what the erasure of a person records. A client's request id has no spaces.
    static func requestID(of person: StreamName) -> String { requestPrefix + "\(person)" }

    private static func person(of requestID: String) -> StreamName? {
        requestID.hasPrefix(requestPrefix) ? StreamName(String(requestID.dropFirst(requestPrefix.count))) : nil
    }
}

/// The streams that this process found of persons whose erasure is under way, so that a page need not find them all again. They may be old:
/// each page asks for their versions, and the last one looks for others.
private final class FoundStreams: Sendable {
    /// Maximum number of persons.
    private static let limit = 16

    private let streams = Mutex<[StreamName: ArraySlice<PersonalStream>]>([:])

    subscript(person: StreamName) -> ArraySlice<PersonalStream> {
        get { streams.withLock { $0[person] ?? [] } }
        set {
            streams.withLock { streams in
                if streams[person] == nil, streams.count >= Self.limit { streams = [:] }
                streams[person] = newValue.isEmpty ? nil : newValue
            }
        }
    }
}

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
public final class Erasures: Sendable {
    /// How long the caller of an erasure waits for its end.
    private static let patience = Duration.seconds(10)
    /// Maximum number of callers that wait. A further one is told at once that something is left.
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

    /// Erases a person. A repetition changes nothing. No token of the person is alive from the append on. The subscription ``Erasure``
    /// does the rest, for which this function waits ten seconds at most.
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
            SELECT (SELECT coalesce(sum(version), 0) FROM log.versions(\(names)))::bigint,
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
            """
            SELECT r.stream, r.position FROM log.recorded(\([id])) AS r JOIN log.recorded_events AS e ON e.position = r.position
            WHERE e.type = ANY(\(types))
            """
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
        let requestID = Erasure.requestID(of: person)
        let found = try await database.query(
            """
            SELECT s.position, s.position < \(position) OR EXISTS (
                SELECT FROM log.recorded_events AS e
                WHERE e.type LIKE '%Erased' AND e.metadata ->> 'request_id' = \(requestID) AND e.position > s.position
            ), EXISTS (
                SELECT FROM log.parked_streams AS p JOIN log.recorded_events AS e ON e.position = p.position
                WHERE p.subscription = \(Erasure.subscription)
                    AND (p.position = \(position) OR e.metadata ->> 'request_id' = \(requestID))
            )
            FROM log.subscriptions AS s WHERE s.name = \(Erasure.subscription) ORDER BY s.number DESC LIMIT 1
            """
        ).decode((Int64, Bool, Bool).self)
        guard let (reached, isUnderWay, isParked) = found.first else { return (nil, false) }
        guard !isUnderWay, !isParked, list?.hasMirrored(position) != false else { return (nil, isParked) }
        return (reached, isParked)
    }
}
