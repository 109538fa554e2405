internal import Encoding
internal import Foundation
internal import Logging
internal import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Keeps the erasure list and the log in step. The subscription ``Erasure`` adds a line before an erasure counts as done. A log that lost
/// its end, or that was restored from a backup or an archive, gets its erasures back from the list before a node answers.
/// docs/decisions/0059-personal-members.md
public final class ErasureList: Service {
    /// The request id in the metadata of erasures that come from the list. A client's request id has no spaces.
    static let requestID = "restored erasure"
    /// Maximum number of recorded events that one query of ``complete()`` reads.
    private static let pageLimit: Int64 = 1_000
    /// Number of ids that the process remembers.
    private static let knownLimit = 10_000
    /// Maximum number of attempts to erase the persons of a page, whose streams others may change meanwhile.
    private static let attempts = 30
    private static let completionInterval = Duration.seconds(600)
    /// How soon the service sees that the log lost its end, or that another node added a line. After a loss that this process learns of,
    /// requests are refused at once.
    private static let watchInterval = Duration.milliseconds(500)
    /// When a wait for the subscription is logged.
    private static let silence = Duration.seconds(10)

    private struct State {
        /// The generation of the log that has every erasure of the list, to its end.
        var generation: LogGeneration?
        /// The id of the first recorded event of that log; `nil` for an empty one.
        var log: UUID?
        /// The bytes of the list that are applied.
        var offset: Int64 = 0
        /// The position up to which the list has the erasures of a generation.
        var completed: (generation: LogGeneration, position: Int64)?
        /// Erasures that have a line, as far as this process remembers. A repetition adds none.
        var known: Set<UUID> = []

        mutating func know(_ ids: some Sequence<UUID>) {
            if known.count > ErasureList.knownLimit { known = [] }
            known.formUnion(ids)
        }
    }

    private let file: ErasureFile
    /// The domain event types of persons, by category.
    private let persons: [String: any DomainEvent.Type]
    private let filter: LogFilter
    private let log: EventLog
    private let database: PostgresClient
    private let dependencies: Dependencies
    private let logger: Logger
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: how long a start that has erased nobody waits for erasures that the log had already
    public init(_ file: ErasureFile, _ context: ModuleContext, patience: Duration = .seconds(60)) {
        self.patience = patience
        persons = Dictionary(uniqueKeysWithValues: context.modules.persons.map { ($0.category, $0) })
        filter = Erasure.filter(of: context.modules)
        self.file = file
        log = context.log
        database = context.database
        dependencies = context.dependencies
        logger = context.logger
    }

    /// Whether the log has every erasure of the list, and nothing is left of the persons. Until then no request may be answered. False
    /// again from the moment on at which this process learns that the log lost its end.
    public var isApplied: Bool { state.withLock { $0.generation == log.history.generation } }

    /// Applies the list whenever the log may lack some of it, and completes it every ten minutes. A failure is logged, and tried again.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await self.repeated(every: Self.watchInterval, "the erasure list is not applied") { try await self.apply() }
                }
                group.addTask {
                    await self.repeated(every: Self.completionInterval, "the erasure list lacks erasures") {
                        try await self.complete()
                    }
                }
            }
        }
    }

    private func repeated(every interval: Duration, _ failure: String, _ work: () async throws -> Int) async {
        var backOff = BackOff(firstSeconds: 0.25, longestSeconds: 10)
        while !Task.isCancelled {
            do {
                _ = try await work()
                backOff.reset()
                try await dependencies.sleep(interval)
            } catch  where Task.isCancelled {
            } catch {
                logger.error("\(failure)", metadata: ["error": "\(error)"])
                try? await dependencies.sleep(backOff.next())
            }
        }
    }

    /// Erases the persons of the list whom the log has, and has not erased, and returns when the subscription ``Erasure`` has handled them.
    /// After the first call only new lines are read, until the log loses its end. They may tell of a loss that no cursor of this process
    /// tells of.
    /// - Returns: the number of persons
    /// - Throws: ``ErasureFile/Failure``, ``StreamContended``, the errors of ``EventLog/append(_:)``, `CancellationError`
    @discardableResult
    public func apply() async throws -> Int {
        let generation = log.history.generation
        let first = try await LogReader(client: database).read(position: 1)?.envelope.id
        // A restore into the database of a running server may bring another log.
        let isNew = state.withLock { $0.generation != generation || $0.log != first }
        let offset = isNew ? 0 : state.withLock(\.offset)
        var (count, lines, linesOfLog) = (0, 0, 0)
        let (end, unreadable) = try await file.read(from: offset) { page in
            let own = page.filter { $0.log == first }
            (lines, linesOfLog) = (lines + page.count, linesOfLog + own.count)
            count += try await apply(own)
            state.withLock { $0.know(page.map(\.erased)) }
        }
        if isNew, unreadable > 0 {
            logger.warning("the erasure list has lines that cannot be read", metadata: ["lines": "\(unreadable)"])
        }
        if isNew, first != nil, lines > 0, linesOfLog == 0 {
            logger.warning("the erasure list is of another log: check HUMON_ERASURES", metadata: ["lines": "\(lines)"])
        }
        if count > 0 { logger.notice("erasures that the log lacked are applied", metadata: ["persons": "\(count)"]) }
        // A full disk stops the subscription. If the log lacked nothing, this must not keep every server that starts from answering.
        if isNew || !isApplied { try await waitForEnd(in: generation, within: count > 0 ? nil : patience) }
        state.withLock { ($0.generation, $0.log, $0.offset) = (generation, first, end) }
        return count
    }

    private func apply(_ page: [ErasureFile.Entry]) async throws -> Int {
        var count = 0
        var backOff = BackOff(firstSeconds: 0.01, longestSeconds: 0.25)
        for _ in 1...Self.attempts {
            let left = try await present(page)
            guard !left.isEmpty else { return count }
            // From here on no request may be answered.
            state.withLock { $0.generation = nil }
            for (entry, version) in left {
                guard let domainEvent = persons[entry.person.category] else { continue }
                let erased = try domainEvent.init(type: StoredType.erasure(of: entry.person.category), content: EventContent([:]))
                // The address of the erasure, which the person may have, contains the id.
                let result = try await log.append(
                    AppendRequest(
                        id: entry.erased, streams: [StreamAppend([erased], to: entry.person, after: version)],
                        recordedAt: dependencies.now(), metadata: Metadata(requestID: Self.requestID, actor: nil, traceID: nil)))
                if case .appended = result { count += 1 }
            }
            try await dependencies.sleep(backOff.next())
        }
        throw StreamContended(stream: page[0].person)
    }

    /// The entries whose persons the log has, and has not erased, with the versions of their streams. The person of an entry is who has the
    /// number by the same first recorded event, of before the erasure: after a restore the number may be given to another person, and the
    /// same token or address gives the same id.
    private func present(_ page: [ErasureFile.Entry]) async throws -> [(entry: ErasureFile.Entry, version: Int32)] {
        let entries = page.filter { persons[$0.person.category] != nil }
        guard !entries.isEmpty else { return [] }
        let names = entries.map(\.person.description)
        return try await database.query(
            """
            SELECT max(l.number), v.version
            FROM unnest(\(names), \(entries.map(\.created)), \(entries.map(\.at))) WITH ORDINALITY AS l (person, created, at, number)
            JOIN log.recorded(\(entries.map(\.created))) AS r ON r.id = l.created AND r.stream = l.person AND r.version = 1
            JOIN log.recorded_events AS e ON e.position = r.position AND e.recorded_at <= l.at
            JOIN log.versions(\(names)) AS v ON v.stream = l.person
            WHERE NOT log.is_erased(l.person) GROUP BY l.person, v.version
            """
        ).decode((Int64, Int32).self).map { (entry: entries[Int($0) - 1], version: $1) }
    }

    /// Waits until the subscription has handled every erasure: names and events show no more then.
    /// - Parameter limit: the longest wait; `nil` for none
    private func waitForEnd(in generation: LogGeneration, within limit: Duration?) async throws {
        let start = ContinuousClock.now
        var isLogged = false
        let types = filter.types.sorted()
        // After another loss of the end, the position may not come back.
        while generation == log.history.generation {
            let reached = try await Subscriptions(client: database).position(of: Erasure.subscription) ?? 0
            let next = try await database.query(
                """
                SELECT min(position) FROM log.recorded_events
                WHERE type = ANY(\(types)) AND type LIKE '%Erased' AND position > \(reached)
                """
            ).decode(Int64?.self)[0]
            guard let next else { return }
            let waited = ContinuousClock.now - start
            if let limit, waited >= limit {
                return logger.error("erasures that the log has are under way; requests are answered")
            }
            if waited >= Self.silence, !isLogged {
                isLogged = true
                logger.error(
                    "no request is answered until the subscription has handled the erasures",
                    metadata: ["subscription": "\(Erasure.subscription)", "position": "\(next)"])
            }
            try await dependencies.sleep(.milliseconds(100))
        }
    }

    /// Adds the erasures of persons that the events are. Erasures that come from the list need no line: a full disk stops no restore.
    /// - Throws: ``ErasureFile/Failure``, `PostgresError`, `CancellationError`
    func record(_ events: [RecordedEvent]) async throws {
        try await record(events.filter { persons[$0.envelope.stream.category] != nil }.map(\.position))
    }

    /// - Parameter positions: of erasures of persons
    func record(_ positions: [Int64]) async throws {
        guard !positions.isEmpty else { return }
        try await add(try await entries("e.position = ANY(\(positions)) AND e.metadata ->> 'request_id' <> \(Self.requestID)"))
    }

    private func add(_ found: [(position: Int64, entry: ErasureFile.Entry)]) async throws {
        guard !unknown(found).isEmpty else { return }
        // Another process may just have added it.
        _ = try await file.read(from: state.withLock(\.offset)) { page in state.withLock { $0.know(page.map(\.erased)) } }
        let missing = unknown(found)
        try await file.append(missing)
        state.withLock { $0.know(missing.map(\.erased)) }
    }

    private func unknown(_ found: [(position: Int64, entry: ErasureFile.Entry)]) -> [ErasureFile.Entry] {
        state.withLock { state in found.map(\.entry).filter { !state.known.contains($0.erased) } }
    }

    /// Adds the erasures of the log that the list lacks, such as those from before there was a list.
    /// - Returns: their number
    /// - Throws: ``ErasureFile/Failure``, `PostgresError`, `CancellationError`
    @discardableResult
    func complete() async throws -> Int {
        let types = persons.keys.map(StoredType.erasure(of:))
        let generation = log.history.generation
        let completed = state.withLock(\.completed)
        var (count, position) = (0, completed?.generation == generation ? completed?.position ?? 0 : 0)
        var listed: Set<UUID>?
        while true {
            let page = try await entries(
                "e.type = ANY(\(types)) AND e.position > \(position) ORDER BY e.position LIMIT \(Self.pageLimit)")
            guard let last = page.last else { return count }
            if listed == nil {
                var ids: Set<UUID> = []
                _ = try await file.read { ids.formUnion($0.map(\.erased)) }
                listed = ids
            }
            let missing = page.map(\.entry).filter { listed?.contains($0.erased) == false }
            try await file.append(missing)
            count += missing.count
            position = last.position
            state.withLock { [position] in $0.completed = (generation, position) }
        }
    }

    /// - Parameter selection: the end of a query, of erasures as `e`
    private func entries(_ selection: SQL) async throws -> [(position: Int64, entry: ErasureFile.Entry)] {
        try await database.query(
            """
            SELECT e.position, e.stream, e.id, e.recorded_at, creation.id, beginning.id FROM log.recorded_events AS e
            JOIN log.recorded_events AS creation ON creation.stream = e.stream AND creation.version = 1
            JOIN log.recorded_events AS beginning ON beginning.position = 1
            WHERE e.type LIKE '%Erased' AND \(selection)
            """
        ).decode((Int64, String, UUID, Timestamp, UUID, UUID).self).map { position, stream, erased, at, created, log in
            let entry = ErasureFile.Entry(log: log, person: StreamName(stream), created: created, erased: erased, at: at)
            return (position: position, entry: entry)
        }
    }
}
