import EventStore
import Events
import TestDatabase
import Users

@testable import Attendances

extension AttendanceKey {
    init(_ event: Int64, _ user: Int64) { self.init(event: EventID(rawValue: event), user: UserID(rawValue: user)) }

    func added(_ version: Int32) -> EventEnvelope<AttendanceDomainEvent> { envelope(.added(self), version) }

    func removed(_ version: Int32) -> EventEnvelope<AttendanceDomainEvent> { envelope(.removed(self), version) }

    func erased(_ version: Int32) -> EventEnvelope<AttendanceDomainEvent> { envelope(.erased(self), version) }

    /// Recorded as many seconds after 1970 as the version says.
    private func envelope(_ event: AttendanceDomainEvent, _ version: Int32) -> EventEnvelope<AttendanceDomainEvent> {
        .of(event, in: stream.description, version: version, at: Int64(version) * 1_000)
    }
}
