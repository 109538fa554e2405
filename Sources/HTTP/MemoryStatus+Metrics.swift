internal import Events
internal import Telemetry

extension MemoryStatus {
    var metrics: [Metric] {
        [
            .gauge(
                "humon_memory_phase",
                "1 for the phase that the node's memory of events is in, 0 for the others: only in_use is read from.",
                Phase.allCases.map { (["phase": $0.rawValue], $0 == phase ? 1 : 0) }),
            .gauge("humon_memory_events", "Events held in memory.", Double(events)),
            .gauge("humon_memory_bytes", "Bytes held for them.", Double(bytes)),
            .gauge("humon_memory_limit_bytes", "Bytes that they may take.", Double(limitBytes)),
            .gauge("humon_memory_position", "Position of the log that the memory stands at.", Double(position)),
            .gauge(
                "humon_memory_age_seconds", "Since the memory was last known to hold all that the log has.", age / .seconds(1)),
            .gauge(
                "humon_memory_stands_before_unreadable",
                "1 if the log goes on with an event that this program cannot read: the memory stays as it was before it.",
                standsBeforeUnreadable ? 1 : 0),
            .counter(
                "humon_reads_total", "Requests that read events, by what answered them.",
                [("memory", readsFromMemory), ("postgresql", readsFromDatabase)].map { (["from": $0], Double($1)) }),
        ]
    }
}
