internal import EventStore
internal import Synchronization

/// The counts of attendances in memory, for operators.
package struct AttendanceCountsStatus: Sendable, Hashable {
    /// Whether the counts answer requests; PostgreSQL does otherwise.
    package var isInUse = false
    /// Number of events with attendances.
    package var events = 0
    /// Maximum number of events; 0 if the process keeps no counts.
    package var eventLimit = 0
    /// Bytes of memory that the counts take.
    package var bytes = 0
    /// The counts hold the log up to this position.
    package var position: Int64 = 0
    /// The time since the counts were last known to hold the whole log, or since the process began to keep them.
    package var age = Duration.zero
}

extension AttendanceCounts {
    var status: AttendanceCountsStatus {
        state.withLock { state in
            AttendanceCountsStatus(
                isInUse: state.isInUse, events: state.counts.count, eventLimit: eventLimit,
                bytes: Self.bytes(capacity: state.counts.capacity), position: state.reached?.position ?? 0,
                age: ContinuousClock.now - state.inStepAt)
        }
    }

    /// Bytes of a dictionary with this capacity. Swift's dictionaries have a power of two of places, of which at most three quarters are
    /// taken. A place takes its key, its value and one bit.
    static func bytes(capacity: Int) -> Int {
        guard capacity > 0 else { return 0 }
        let least = (capacity * 4 + 2) / 3
        let places = 1 << (Int.bitWidth - (least - 1).leadingZeroBitCount)
        return places * (MemoryLayout<Int64>.size + MemoryLayout<Int32>.size) + places / 8
    }
}

extension AttendancesModule {
    package var countsStatus: AttendanceCountsStatus { counts?.status ?? AttendanceCountsStatus() }
}
