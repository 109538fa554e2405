internal import EventStore
internal import Events
internal import Telemetry

extension EventsModule {
    var indexMetrics: [Metric] {
        let status = indexStatus
        return [
            .gauge(
                "humon_index_phase",
                "1 for the phase of the node's index: only in_use answers requests.",
                InMemoryPhase.allCases.map { (["phase": $0.rawValue], $0 == status.phase ? 1 : 0) }),
            .gauge("humon_index_events", "Events in the index.", Double(status.count)),
            .gauge("humon_index_bytes", "Bytes held for them.", Double(status.bytes)),
            .gauge("humon_index_limit_bytes", "Bytes from which on the node takes no new events.", Double(status.limit)),
            .gauge("humon_index_position", "Position of the log that the index stands at.", Double(status.position)),
            .gauge(
                "humon_index_age_seconds", "Since the index was last known to hold all that the log has.",
                status.age / .seconds(1)),
            .gauge(
                "humon_index_stands_before_unreadable",
                "1 if the log goes on with an event that this program cannot read: requests do not read the index then.",
                status.isBlockedByUnreadableEvent ? 1 : 0),
            .counter("humon_index_reads_total", "Requests that read events from the index.", Double(readCount)),
        ]
    }
}
