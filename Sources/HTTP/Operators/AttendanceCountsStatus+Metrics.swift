internal import Attendances
internal import Telemetry

extension AttendanceCountsStatus {
    var metrics: [Metric] {
        [
            .gauge(
                "humon_attendance_counts_in_use", "1 if the counts in memory answer requests, 0 if PostgreSQL counts.",
                isInUse ? 1 : 0),
            .gauge("humon_attendance_counts_events", "Events with attendances, which are counted in memory.", Double(events)),
            .gauge("humon_attendance_counts_limit_events", "Maximum number of these events.", Double(eventLimit)),
            .gauge("humon_attendance_counts_bytes", "Bytes held for the counts.", Double(bytes)),
            .gauge("humon_attendance_counts_position", "Position of the log that the counts stand at.", Double(position)),
            .gauge(
                "humon_attendance_counts_age_seconds", "Since the counts were last known to hold all that the log has.",
                age / .seconds(1)),
        ]
    }
}
