internal import Foundation
internal import Postgres

/// The result of one measurement.
struct Measurement: Sendable {
    var clients: Int
    /// The number of events or rows.
    var perSecond: Double
    var p50Milliseconds: Double?
    var p99Milliseconds: Double?
    /// Events or rows for each commit.
    var perTransaction: Double?
    /// The part of the time in which a process waited for fsync, from 0 to 1.
    var syncShare: Double?
    /// Processor seconds a second of the benchmark's own process, with the event log.
    var programCPU: Double?

    init(
        clients: Int, perSecond: Double, latencies: [Double] = [], perTransaction: Double? = nil, syncShare: Double? = nil,
        programCPU: Double? = nil
    ) {
        self.clients = clients
        self.perSecond = perSecond
        self.perTransaction = perTransaction
        self.syncShare = syncShare
        self.programCPU = programCPU
        let sorted = latencies.sorted()
        p50Milliseconds = sorted.isEmpty ? nil : sorted[sorted.count / 2]
        p99Milliseconds = sorted.isEmpty ? nil : sorted[sorted.count * 99 / 100]
    }
}

/// The counters before and after a measurement.
struct Observation: Sendable {
    let tail: Int64
    private let at = ContinuousClock.now
    private let syncMilliseconds: Double?
    private let cpuSeconds: Double

    init(of database: Database) async throws {
        (tail, syncMilliseconds) = try await database.administer { client in
            let tail = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
            // PostgreSQL 18 and later have this in another view.
            let columns = try await client.query(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'pg_stat_wal'::regclass AND attname = 'wal_sync_time'"
            )
            guard !columns.isEmpty else { return (tail, nil) }
            return (tail, try await client.query("SELECT wal_sync_time FROM pg_stat_wal").decode(Double.self)[0])
        }
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    func seconds(since before: Observation) -> Double { (at - before.at) / .seconds(1) }

    func programCPU(since before: Observation) -> Double { (cpuSeconds - before.cpuSeconds) / seconds(since: before) }

    func syncShare(since before: Observation) -> Double? {
        guard let syncMilliseconds, let earlier = before.syncMilliseconds else { return nil }
        return (syncMilliseconds - earlier) / 1_000 / seconds(since: before)
    }
}
