internal import Events
internal import Telemetry

extension ChangeFeedStatus {
    var metrics: [Metric] {
        [
            .gauge("humon_changes_streams", "Open streams of changes.", Double(streams)),
            .counter(
                "humon_changes_sent_total", "Changes sent, once for each stream.", Double(sent)),
            .counter(
                "humon_changes_resets_total", "Streams whose clients were told to read their list again.", Double(resets)),
            .gauge("humon_changes_held", "Recent changes in memory, with which clients continue.", Double(changes)),
            .gauge(
                "humon_changes_first_position", "Position of the log from which a client can continue.", Double(firstPosition)),
            .gauge("humon_changes_last_position", "Position of the log up to which changes were sent.", Double(lastPosition)),
        ]
    }
}
