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
public struct ErasureSubscription: Subscription {
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
            while try await erase([person.description], person), !isAppended {}
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

    /// Ends personal members of streams, and commands of a person.
    /// - Returns: whether some may be left
    private func erase(_ streams: [String], _ person: StreamName? = nil) async throws -> Bool {
        let ended = try await database.run([
            "SELECT set_config('lock_timeout', \(Self.lockTimeout), true)",
            "SELECT log.erase(\(streams), \(Int32(Self.rowsAtOnce)), \(person?.description ?? ""))",
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
            "SELECT * FROM (\(LogReader.versions(of: streams.map(\.name.description)))) AS v WHERE NOT log.is_erased(stream)")
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
