internal import Encoding
internal import EventStore
internal import Foundation
internal import Postgres
internal import Synchronization

/// Concurrent commands. Each appends one event to the log and waits for it, over and over.
struct LogAppends: Sendable {
    enum Workload {
        case creations
        /// Each event is updated once, with the version before as the expected one.
        case creationsAndUpdates
    }

    /// The warm-up before the measurement: PostgreSQL prepares the statements and chooses their plans.
    static let warmUpSeconds = 0.5

    /// The number of the next event in any database: above the numbers in filled logs.
    private static let number = Atomic<Int64>(1_000_000_000)

    static func nextNumber() -> Int64 { number.add(1, ordering: .relaxed).oldValue }

    let database: Database
    let projections: [any Projection]
    let seconds: Int

    init(cluster: Cluster, database: String, projections: [any Projection], seconds: Int) async throws {
        self.init(
            database: try await cluster.createDatabase(database, migrated: true), projections: projections, seconds: seconds)
        try await self.database.administer { client in
            _ = try await LogSchema(projections: projections, client: client).migrate()
        }
        try await self.database.withWriter(connections: 4) { client in
            try await ReadModels(projections: projections, client: client, logger: .quiet).prepare()
        }
    }

    init(database: Database, projections: [any Projection], seconds: Int) {
        self.database = database
        self.projections = projections
        self.seconds = seconds
    }

    func measure(commands: Int, workload: Workload = .creations) async throws -> Measurement {
        try await database.checkpoint()
        return try await withLog { log in try await measure(log, commands: commands, workload: workload) }
    }

    /// Measures on a running log, through its connection.
    func measure(_ log: EventLog, commands: Int, workload: Workload = .creations) async throws -> Measurement {
        progress("\(commands) concurrent commands, \(projections.count) projections")
        _ = try await append(to: log, commands: commands, seconds: Self.warmUpSeconds, workload: workload)
        let before = try await Observation(of: database)
        let began = ContinuousClock.now
        let latencies = try await append(to: log, commands: commands, seconds: Double(seconds), workload: workload)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let after = try await Observation(of: database)
        try await checkEvents()
        return Measurement(
            clients: commands,
            perSecond: Double(latencies.count) / elapsed,
            latencies: latencies,
            perTransaction: try await eventsPerTransaction(after: before.tail),
            syncShare: after.syncShare(since: before),
            programCPU: after.programCPU(since: before)
        )
    }

    /// Runs a log until the body ends.
    func withLog<Value: Sendable>(_ body: @Sendable (EventLog) async throws -> Value) async throws -> Value {
        try await database.withWriter { client in
            let log = EventLog(client: client, projections: projections, logger: .quiet)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await log.run() }
                defer { group.cancelAll() }
                return try await body(log)
            }
        }
    }

    /// The latency of each append in milliseconds.
    private func append(to log: EventLog, commands: Int, seconds: Double, workload: Workload) async throws -> [Double] {
        let end = ContinuousClock.now + .seconds(seconds)
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<commands {
                group.addTask {
                    var latencies: [Double] = []
                    var number = Self.nextNumber()
                    var version: Int32 = 0
                    while ContinuousClock.now < end {
                        let append = AppendRequest.ofBenchmark(number, version: version)
                        let began = ContinuousClock.now
                        _ = try await log.position(of: append)
                        latencies.append((ContinuousClock.now - began) / .milliseconds(1))
                        if workload == .creationsAndUpdates, version == 0 {
                            version = 1
                        } else {
                            version = 0
                            number = Self.nextNumber()
                        }
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Checks that the events have the stated size.
    private func checkEvents() async throws {
        let others = try await database.administer { client in
            try await client.query(
                """
                SELECT count(*) FROM (SELECT * FROM log.recorded_events ORDER BY position DESC LIMIT 1000) AS e
                WHERE octet_length(data::text) + octet_length(personal::text)
                    -- Two objects have a byte more than one.
                    + octet_length(metadata::text) <> \(Int32(BenchmarkEvent.bytes)) + 1
                """
            ).decode(Int64.self)[0]
        }
        precondition(others == 0, "\(others) of 1000 events are not of \(BenchmarkEvent.bytes) bytes")
    }

    /// The mean number of events in a transaction: rows of one transaction share its `xmin`.
    private func eventsPerTransaction(after position: Int64) async throws -> Double {
        try await database.administer { client in
            try await client.query(
                """
                SELECT count(*)::double precision / greatest(count(DISTINCT xmin::text), 1)
                FROM log.recorded_events WHERE position > \(position)
                """
            ).decode(Double.self)[0]
        }
    }
}

extension EventLog {
    /// Appends, and returns the position of the recorded event.
    func position(of append: AppendRequest) async throws -> Int64 {
        guard let place = try await self.append(append).place else { preconditionFailure("the append was refused") }
        return place.position
    }
}

extension AppendRequest {
    /// The creation of an event, or its update if it has a version.
    static func ofBenchmark(_ number: Int64 = LogAppends.nextNumber(), version: Int32 = 0) -> AppendRequest {
        AppendRequest(
            id: Dependencies.system.newDomainEventID,
            streams: [
                StreamAppend(
                    [version == 0 ? BenchmarkEvent.created() : BenchmarkEvent.updated()],
                    to: StreamName(category: BenchmarkEvent.category, key: String(number)), after: version)
            ],
            recordedAt: Dependencies.system.now(),
            metadata: BenchmarkEvent.metadata
        )
    }
}
