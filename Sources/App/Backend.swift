internal import EventStore
internal import Events
internal import HTTP
internal import Logging
internal import Postgres
internal import ServiceLifecycle

/// The modules on one log and one database: composed here and nowhere else.
struct Backend: Sendable {
    static let projections = StoredModule.all.projections
    static let domainEvents = StoredModule.all.domainEvents
    static let formats = ProgramFormats(of: domainEvents)
    static let sequences = StoredModule.all.idSequences

    let modules: ComposedModules
    /// In dependency order: the first starts first and stops last.
    let services: [any Service]
    let readers: PostgresClient
    let writer: PostgresClient
    let log: EventLog
    private let erasures: ErasureList?
    private let projectionRunner: ProjectionRunner

    /// Whether requests may be answered: neither an erasure of the list nor an event that this program cannot read is missing from what
    /// the process has.
    var mayAnswer: Bool { !projectionRunner.isBlocked && erasures?.isApplied ?? true }

    /// - Parameters:
    ///   - apps: the apps that the process serves. It has all modules and all projections, so that its appends change the read models that
    ///     other nodes serve
    ///   - memoryBytes: the size of the in-memory index from which on the node takes no new events; 0 for no index, as in a command, which
    ///     reads no events
    ///   - eventsPerUser: the largest number of live events of a user; 0 for no quota
    ///   - erasureFile: the erasure list of this node; `nil` for a command, which runs anywhere
    init(
        _ database: Database, connections: Int, apps: Set<ServedApp> = .all, memoryBytes: Int = 0, eventsPerUser: Int = 0,
        erasureFile: ErasureFile? = nil, dependencies: Dependencies = .system, logger: Logger
    ) {
        let memoryBytes = apps.contains(.events) ? memoryBytes : 0
        // Besides the readers' connections: one to listen, one to tell that the program serves, one to lead the erasure of persons and one
        // for its work, one to load and verify the index.
        readers = PostgresClient(database.asServer(connections: connections + (memoryBytes > 0 ? 5 : 4)), logger: logger)
        writer = PostgresClient(database.asWriter, logger: logger)
        let readModels = Self.readModels(readers, logger: logger)
        let notifier = LogNotifier(client: readers, listens: true, logger: logger)
        let render: EventRendering = { $0.writeJSON(into: &$1) }
        let changes = ChangeFeed()
        let index =
            memoryBytes > 0
            ? InMemoryReadModel(
                EventsInMemory(limitBytes: memoryBytes, eventsPerUser: eventsPerUser, render: render, listener: changes),
                client: readers, notifier: notifier, logger: logger)
            : nil
        log = EventLog(client: writer, projections: Self.projections, notifier: notifier, logger: logger)
        var composition = Composition(
            log: log, database: readers, dependencies: dependencies, modules: StoredModule.all, logger: logger)
        if let index {
            log.add(index)
            composition.add(index)
            composition.add(changes)
        }
        erasures = erasureFile.map { [composition] in ErasureList($0, composition, notifier) }
        if let erasures { composition.add(erasures) }
        let lists: [any Service] = erasures.map { [$0] } ?? []
        modules = ComposedModules(Module.all, serving: apps, in: composition)
        projectionRunner = ProjectionRunner(readModels, notifier: notifier, logger: logger)
        let erasure = SubscriptionRunner(
            ErasureSubscription(composition), client: readers, notifier: notifier, logger: logger)
        let programs = RunningPrograms(Self.formats, readModels: readModels, client: readers, logger: logger)
        let watch = LogLockWatch(client: readers, logger: logger)
        services =
            database.services + [readers, writer, notifier, watch, programs, projectionRunner]
            + (index.map { [changes, $0] } ?? []) + [log, erasure] + lists
    }

    static func readModels(
        _ client: PostgresClient, background: PostgresClient? = nil, logger: Logger = .humon(.warning)
    ) -> ReadModels {
        ReadModels(projections: projections, client: client, background: background, logger: logger)
    }

    /// - Throws: `PostgresError` when the database does not answer.
    func checkHealth() async throws { try await readers.query("SELECT 1") }

    /// Whether nothing was ever recorded; false if the database does not answer.
    func isLogEmpty() async -> Bool { (try? await LogReader(client: readers).tail()) == 0 }

    /// Checks the erasure list, migrates the database, checks the stored formats of the servers that run, and builds missing read models.
    /// - Throws: `FormatConflict` beside servers with conflicting formats, ``CommandFailure``, `ReadModelError`, `LogGapError`,
    ///   `ErasureFile.Failure`, `PostgresError`
    static func prepare(_ database: Database, logger: Logger) async throws {
        try database.settings.erasureFile?.prepare()
        try await database.migrate(logger: logger)
        try await withPostgres(database.asApplication(connections: 4), logger: logger) { client in
            try await warnOfLosses(client, logger: logger)
            try await RunningPrograms(formats, client: client, logger: logger).prepare()
            do { try await readModels(client, logger: logger).prepare() } catch let error as FormatError {
                throw CommandFailure.unreadableLog(error.description)
            } catch PostgresError.refused(let refusal) where refusal.sqlState.isAboutData {
                throw CommandFailure.unreadableLog("a read model cannot hold its values: \(refusal)")
            }
        }
    }

    /// Returns the names of the settings that are off and must be on, so that a crash loses no acknowledged write.
    static func unsafeSettings(_ client: PostgresClient) async throws -> [String] {
        try await client.query(
            """
            SELECT name FROM pg_settings
            WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off' ORDER BY name
            """
        ).decode(String.self)
    }

    private static func warnOfLosses(_ client: PostgresClient, logger: Logger) async throws {
        for name in try await unsafeSettings(client) {
            logger.warning("PostgreSQL may lose acknowledged writes in a crash", metadata: ["off": "\(name)"])
        }
    }

    /// Runs the services for as long as the body does.
    func run<Value: Sendable>(logger: Logger, _ body: @Sendable @escaping () async throws -> Value) async throws -> Value {
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }
}

extension SQLState {
    /// Classes 22 and 23: a value that no column holds, or that a key or check refuses.
    fileprivate var isAboutData: Bool { rawValue.hasPrefix("22") || rawValue.hasPrefix("23") }
}

extension CommandFailure {
    /// The log holds a recorded event that this program cannot read. It builds no read model from such a log, because readers skip no
    /// event.
    /// - Parameter reason: the position and the names of fields, never their values
    fileprivate static func unreadableLog(_ reason: String) -> CommandFailure {
        CommandFailure(
            """
            The log cannot be read: \(reason).
            Nothing was changed. humon skips no event: a read model without this event would be wrong.
            humon log verify lists all such positions; humon log show POSITION prints one.
            If a newer humon recorded it, start that version. If it came with humon log import, import a corrected archive into a new \
            database. Otherwise restore a backup from before it.
            """)
    }
}
