internal import EventStore
internal import Postgres
internal import Telemetry

extension Backend {
    /// The maximum time that a scrape waits for PostgreSQL, so that it can report an unreachable database.
    private static let patience = Duration.seconds(2)

    func metrics() async -> [Metric] {
        let clients: [(name: String, statistics: PostgresStatistics)] = [
            ("readers", readers.statistics), ("writer", writer.statistics),
        ]
        return log.statistics.metrics + PostgresStatistics.metrics(of: clients) + LogStatus.metrics(of: await status())
    }

    /// Returns `nil` if PostgreSQL does not answer in time.
    private func status() async -> LogStatus? {
        await withTaskGroup(of: LogStatus?.self) { group in
            group.addTask { try? await LogStatus(of: Self.projections, client: readers) }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

extension LogStatus {
    /// - Parameter status: `nil` if PostgreSQL did not answer
    fileprivate static func metrics(of status: LogStatus?) -> [Metric] {
        let subscriptions = status?.subscriptions ?? []
        return [
            .gauge(
                "humon_postgres_up",
                "1 if PostgreSQL answered this scrape within 2 s, including the wait for a free connection; if 0, its other metrics are missing.",
                status == nil ? 0 : 1),
            .gauge(
                "humon_log_position", "Position of the last recorded event.",
                status.map { [(Labels(), Double($0.position))] } ?? []),
            .gauge(
                "humon_read_model_lag_events", "Recorded events that a read model does not contain yet.",
                (status?.readModelLags ?? [:]).sorted { $0.key < $1.key }.map { (["read_model": $0.key], Double($0.value)) }),
            .gauge(
                "humon_subscription_lag_events", "Recorded events that a subscription has not handled yet.",
                subscriptions.map { (["subscription": $0.name], Double($0.lag)) }),
            .gauge(
                "humon_subscription_led", "1 if some node leads the subscription; 0 also while there is nothing to do.",
                subscriptions.map { (["subscription": $0.name], $0.leasedUntil == nil ? 0 : 1) }),
            .gauge(
                "humon_subscription_parked_streams", "Streams that a subscription failed to handle and parked.",
                subscriptions.map { (["subscription": $0.name], Double($0.parkedStreams)) }),
        ]
    }
}

extension WriterStatistics {
    fileprivate var metrics: [Metric] {
        [
            .gauge("humon_writer_queue_length", "Appends that no transaction has taken yet.", Double(queued)),
            .gauge(
                "humon_writer_queue_limit", "Maximum number of waiting appends; further ones are refused.",
                Double(EventLog.queueLimit)),
            .counter(
                "humon_writer_appends_total", "Append requests of this node, by outcome.",
                Outcome.allCases.map { (["outcome": $0.label], Double(outcomes[$0] ?? 0)) }),
            .histogram("humon_writer_batch_size", "Appends in one transaction.", batches),
            .histogram(
                "humon_writer_commit_duration_seconds", "Time from the start of a transaction to its commit.", commits),
        ]
    }
}

extension WriterStatistics.Outcome {
    fileprivate var label: String {
        switch self {
        case .recorded: "recorded"
        case .repeated: "repeated"
        case .conflict: "conflict"
        case .keyReused: "key_reused"
        case .overloaded: "overloaded"
        case .closed: "closed"
        case .unavailable: "unavailable"
        case .failed: "failed"
        }
    }
}

extension PostgresStatistics {
    fileprivate static func metrics(of clients: [(name: String, statistics: PostgresStatistics)]) -> [Metric] {
        func each(_ value: (PostgresStatistics) -> Int) -> [(Labels, Double)] {
            clients.map { (["client": $0.name], Double(value($0.statistics))) }
        }
        return [
            .gauge(
                "humon_postgres_connections", "Connections of the pool, by use.",
                clients.flatMap { name, statistics in
                    Use.allCases.map { (["client": name, "state": $0.rawValue], Double(statistics.connections[$0] ?? 0)) }
                }),
            .gauge("humon_postgres_waiting_callers", "Callers that wait for a connection.", each(\.waiting)),
            .histogram(
                "humon_postgres_query_duration_seconds", "Time from the call of a pipeline of statements to its last result.",
                clients.map { (["client": $0.name], $0.statistics.queries) }),
            .counter(
                "humon_postgres_query_failures_total", "Pipelines of statements that failed, by reason.",
                clients.flatMap { name, statistics in
                    Failure.allCases.map { (["client": name, "reason": $0.label], Double(statistics.failures[$0] ?? 0)) }
                }),
            .counter("humon_postgres_connections_opened_total", "Connections that were opened.", each(\.opened)),
            .counter("humon_postgres_connections_lost_total", "Connections that PostgreSQL or the network ended.", each(\.lost)),
            .counter(
                "humon_postgres_connection_failures_total", "Attempts to open a connection that failed.", each(\.failedToOpen)),
        ]
    }
}

extension PostgresStatistics.Failure {
    fileprivate var label: String {
        switch self {
        case .refused: "refused"
        case .unavailable: "unavailable"
        case .cancelled: "cancelled"
        }
    }
}
