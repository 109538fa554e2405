internal import EventStore
internal import HTTP
internal import Postgres
internal import Telemetry

extension Backend {
    /// The maximum time that a scrape waits for PostgreSQL, so that it can report an unreachable database.
    private static let patienceSeconds = 2.0

    func metrics() async -> [Metric] {
        log.metrics + PostgresClient.metrics(of: [("readers", readers), ("writer", writer)])
            + LogStatus.metrics(of: await status())
    }

    /// Returns `nil` if PostgreSQL does not answer in time.
    private func status() async -> LogStatus? {
        try? await Deadline.run(within: Self.patienceSeconds) { [readers] in
            try await LogStatus(of: Self.projections, client: readers)
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
                "humon_subscription_position", "Position up to which a subscription has handled or parked every event.",
                subscriptions.map { (["subscription": $0.name], Double($0.position)) }),
            .gauge(
                "humon_subscription_parked_streams", "Streams that a subscription failed to handle and parked.",
                subscriptions.map { (["subscription": $0.name], Double($0.parkedStreams)) }),
        ]
    }
}

extension EventLog {
    fileprivate var metrics: [Metric] {
        [
            .gauge("humon_writer_queue_length", "Appends that no transaction has taken yet.", Double(queueLength)),
            .gauge(
                "humon_writer_queue_limit", "Maximum number of waiting appends; further ones are refused.",
                Double(Self.queueLimit)),
            .counter(
                "humon_writer_appends_total", "Append requests of this node, by outcome.",
                WriterStatistics.Outcome.allCases.map { [appends = statistics.appends] outcome -> (Labels, Double) in
                    (["outcome": outcome.rawValue], Double(appends[outcome] ?? 0))
                }),
            .histogram("humon_writer_batch_size", "Appends in one transaction.", statistics.batches.snapshot),
            .histogram(
                "humon_writer_commit_duration_seconds", "Time from the start of a transaction to its commit.",
                statistics.commits.snapshot),
        ]
    }
}

extension PostgresClient {
    fileprivate static func metrics(of clients: [(name: String, client: PostgresClient)]) -> [Metric] {
        func each(_ value: (PostgresClient) -> Int) -> [(Labels, Double)] {
            clients.map { (["client": $0.name], Double(value($0.client))) }
        }
        return [
            .gauge(
                "humon_postgres_connections", "Connections of the pool, by use.",
                clients.flatMap { name, client in
                    let connections = client.connections
                    return PostgresStatistics.Use.allCases.map { use -> (Labels, Double) in
                        (["client": name, "state": use.rawValue], Double(connections[use] ?? 0))
                    }
                }),
            .gauge("humon_postgres_waiting_callers", "Callers that wait for a connection.", each(\.waitingCallers)),
            .histogram(
                "humon_postgres_query_duration_seconds", "Time from the call of a pipeline of statements to its last result.",
                clients.map { (["client": $0.name], $0.client.statistics.queries.snapshot) }),
            .counter(
                "humon_postgres_query_failures_total", "Pipelines of statements that failed, by reason.",
                clients.flatMap { name, client in
                    let failures = client.statistics.failures
                    return PostgresStatistics.Failure.allCases.map { failure -> (Labels, Double) in
                        (["client": name, "reason": failure.rawValue], Double(failures[failure] ?? 0))
                    }
                }),
            .counter("humon_postgres_connections_opened_total", "Connections that were opened.", each(\.statistics.opened)),
            .counter(
                "humon_postgres_connections_lost_total", "Connections that PostgreSQL or the network ended.",
                each(\.statistics.lost)),
            .counter(
                "humon_postgres_connection_failures_total", "Attempts to open a connection that failed.",
                each(\.statistics.failedToOpen)),
        ]
    }
}
