internal import Encoding
internal import Foundation
internal import Logging
internal import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Mirrors the erasures of persons from the log to the ``ErasureFile`` of this node, and gives them back to a log that lacks them: one that
/// lost its end, or that was restored from a backup or an archive. Until that is done no request may be answered.
///
/// Each node has a file of its own, so an erasure survives unless the log's end and every node that had read it are lost together. A file
/// that cannot be written delays no erasure. docs/decisions/0059-personal-members.md
///
/// Thread-safe: a lock protects the state.
public final class ErasureList: Service {
    /// The request id in the metadata of erasures that come from a list. A client's request id has no spaces.
    static let requestID = "restored erasure"
    /// Maximum number of erasures that one query reads.
    private static let pageLimit = 1_000
    /// Time between two pages that reach the end of the log.
    private static let pause = Duration.milliseconds(100)

    private struct State {
        /// The generation of the log that has every erasure of the file, to its end.
        var applied: LogGeneration?
        /// The file has every erasure of the log up to this position.
        var mirrored: Int64 = 0
    }

    private let file: ErasureFile
    /// The domain event types of persons, by category.
    private let persons: [String: any DomainEvent.Type]
    /// The erasures of persons.
    private let filter: LogFilter
    /// The names of all erasures, also of what belongs to a person.
    private let types: [String]
    private let log: EventLog
    private let database: PostgresClient
    private let notifier: LogNotifier
    private let dependencies: Dependencies
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter notifier: that of the composition's log; must run
    public init(_ file: ErasureFile, _ composition: Composition, _ notifier: LogNotifier) {
        persons = Dictionary(uniqueKeysWithValues: composition.modules.persons.map { ($0.category, $0) })
        filter = LogFilter(types: Set(persons.keys.map(StoredType.erasure(of:))))
        types = ErasureSubscription.filter(of: composition.modules).types.sorted()
        self.file = file
        self.notifier = notifier
        log = composition.log
        database = composition.database
        dependencies = composition.dependencies
        logger = composition.logger
    }

    /// Whether the log has every erasure of the file, and nothing is left of the persons. Until then no request may be answered. False
    /// again from the moment on at which this process learns that the log lost its end.
    public var isApplied: Bool { state.withLock { $0.applied == log.history.generation } }

    /// Whether the file has every erasure of the log up to a position.
    func hasMirrored(_ position: Int64) -> Bool { isApplied && state.withLock { $0.mirrored >= position } }

    /// Applies the file and mirrors the log, until shutdown begins. A failure is logged, and tried again after 10 seconds at most.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            var backOff = BackOff(firstSeconds: 0.25, longestSeconds: 10)
            while !Task.isCancelled {
                do {
                    try await follow(&backOff)
                } catch  where Task.isCancelled {
                } catch is LogDivergedError {
                } catch {
                    logger.error("the erasure list and the log are out of step", metadata: ["error": "\(error)"])
                    try? await dependencies.sleep(backOff.next())
                }
            }
        }
    }

    /// Returns when the file must be applied again: to another generation of the log, or because another program wrote to the file.
    private func follow(_ backOff: inout BackOff) async throws {
        let (generation, reader) = (log.history.generation, LogReader(client: database))
        try file.prepare()
        let first = try await reader.read(position: 1)?.envelope.id
        var (start, known, lines, count) = (LogCursor(position: 0), Set<UUID>(), 0, 0)
        var size = try await file.read { page in
            let own = page.filter { $0.log == first }
            count += try await apply(own)
            start = own.last.map { $0.cursor ?? LogCursor(position: 0) } ?? start
            known.formUnion(own.map(\.erased))
            lines += page.count
        }.size
        if first != nil, lines > 0, known.isEmpty {
            logger.warning("the erasure list is of another log: check HUMON_ERASURES", metadata: ["lines": "\(lines)"])
        }
        if count > 0 { logger.notice("erasures that the log lacked are recorded again", metadata: ["persons": "\(count)"]) }
        try await waitForRestored(in: generation)
        // Another history may have another event there, or end before it.
        let present = try await reader.cursor(at: start.position)
        if present.mark == nil || present != start { start = LogCursor(position: 0) }
        state.withLock { [start] in ($0.applied, $0.mirrored) = (generation, start.position) }

        // The erasures so far come from their index, and later ones from the tail of the log.
        let end = try await reader.page(after: try await reader.tail(), limit: 1, filter: filter).after
        guard try await copy(after: start.position, through: end.position, except: known, &size) else { return }
        state.withLock { $0.mirrored = end.position }
        for try await page in LogTail(client: database, notifier: notifier, filter: filter, reached: { end }) {
            // The first recorded event may be that of the file's log, if a backup was restored into an empty database.
            guard generation == log.history.generation, first != nil || page.through == 0 else { return }
            if !page.events.isEmpty {
                guard try await copy(after: page.after.position, through: page.through, except: [], &size) else { return }
            }
            state.withLock { $0.mirrored = page.through }
            backOff.reset()
            // A busy log asks for a page after each append otherwise.
            if page.endOfLogAt != nil { try await dependencies.sleep(Self.pause) }
        }
    }

    /// Records the erasures of lines whose persons the log has, and has not erased.
    /// - Returns: the number of persons
    /// - Throws: ``StreamContended`` if another writer was faster, and the errors of ``EventLog/append(_:)``
    private func apply(_ page: [ErasureFile.Entry]) async throws -> Int {
        let left = try await unerased(page)
        for (entry, version) in left {
            guard let domainEvent = persons[entry.person.category] else { continue }
            // From here on no request may be answered.
            state.withLock { $0.applied = nil }
            let erased = try domainEvent.init(type: StoredType.erasure(of: entry.person.category), content: EventContent([:]))
            // The address of the erasure, which the person may have, contains the id.
            let request = AppendRequest(
                id: entry.erased, streams: [StreamAppend([erased], to: entry.person, after: version)],
                recordedAt: dependencies.now(), metadata: Metadata(requestID: Self.requestID, actor: nil, traceID: nil))
            if case .conflict = try await log.append(request) { throw StreamContended(stream: entry.person) }
        }
        return left.count
    }

    /// The lines whose persons the log has, and has not erased, with the versions of their streams. The person of a line is who has the
    /// number by the same first recorded event, of before the erasure: after a restore the number may be given to another person, and the
    /// same token or address gives the same id.
    private func unerased(_ page: [ErasureFile.Entry]) async throws -> [(entry: ErasureFile.Entry, version: Int32)] {
        let entries = page.filter { persons[$0.person.category] != nil }
        guard !entries.isEmpty else { return [] }
        let names = entries.map(\.person.description)
        return try await database.query(
            """
            SELECT max(l.number), v.version
            FROM unnest(\(names), \(entries.map(\.created)), \(entries.map(\.at))) WITH ORDINALITY AS l (person, created, at, number)
            CROSS JOIN LATERAL (
                SELECT FROM log.recorded_events AS e
                WHERE e.id = l.created AND e.stream = l.person AND e.version = 1 AND e.recorded_at <= l.at LIMIT 1
            ) AS creation
            CROSS JOIN LATERAL (
                SELECT e.version FROM log.recorded_events AS e WHERE e.stream = l.person ORDER BY e.version DESC LIMIT 1
            ) AS v
            WHERE NOT log.is_erased(l.person) GROUP BY l.person, v.version
            """
        ).decode((Int64, Int32).self).map { (entry: entries[Int($0) - 1], version: $1) }
    }

    /// Waits until ``ErasureSubscription`` has handled every erasure that came from a list, of this node or another one, and what
    /// belonged to the persons: names and events show no more then.
    private func waitForRestored(in generation: LogGeneration) async throws {
        // After another loss of the end, a position may not come back.
        while generation == log.history.generation {
            let reached = try await Subscriptions(client: database).position(of: ErasureSubscription.subscription) ?? 0
            let isDone = try await database.query(
                """
                SELECT FROM log.recorded_events AS e
                WHERE e.type = ANY(\(types)) AND e.type LIKE '%Erased' AND e.position > \(reached) AND EXISTS (
                    SELECT FROM log.recorded_events AS p
                    WHERE p.stream IN (e.stream, replace(e.metadata ->> 'request_id', \(ErasureSubscription.requestPrefix), ''))
                        AND p.type LIKE '%Erased' AND p.metadata ->> 'request_id' = \(Self.requestID)
                )
                LIMIT 1
                """
            ).isEmpty
            if isDone { return }
            try await dependencies.sleep(Self.pause)
        }
    }

    /// Adds a line for each erasure behind a position, up to the end.
    /// - Parameters:
    ///   - known: erasures that have a line
    ///   - size: the size of the file in bytes
    /// - Returns: false if another program wrote to the file
    private func copy(
        after position: Int64, through end: Int64, except known: Set<UUID>, _ size: inout Int64
    ) async throws -> Bool {
        var position = position
        while true {
            let page = try await entries(after: position, through: end)
            let missing = page.filter { !known.contains($0.erased) }
            if !missing.isEmpty {
                guard let grown = try file.append(missing, at: size) else { return false }
                size = grown
            }
            guard page.count == Self.pageLimit, let last = page.last?.cursor else { return true }
            position = last.position
        }
    }

    private func entries(after position: Int64, through end: Int64) async throws -> [ErasureFile.Entry] {
        try await database.query(
            """
            SELECT e.position, e.stream, e.id, e.recorded_at, creation.id, beginning.id FROM log.recorded_events AS e
            JOIN log.recorded_events AS creation ON creation.stream = e.stream AND creation.version = 1
            JOIN log.recorded_events AS beginning ON beginning.position = 1
            WHERE e.type = ANY(\(filter.types.sorted())) AND e.type LIKE '%Erased' AND e.position > \(position)
                AND e.position <= \(end)
            ORDER BY e.position LIMIT \(Int64(Self.pageLimit))
            """
        ).decode((Int64, String, UUID, Timestamp, UUID, UUID).self).map { position, stream, erased, at, created, log in
            ErasureFile.Entry(
                log: log, person: StreamName(stream), created: created, erased: erased, at: at,
                cursor: LogCursor(position: position, id: erased, recordedAt: at))
        }
    }
}
