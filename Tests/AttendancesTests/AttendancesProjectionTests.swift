import Encoding
import EventStore
import Events
import Foundation
import Testing
import Users

@testable import Attendances

@Suite struct `Folding the domain events of attendances` {
    @Test func `no domain events give no attendance rows`() {
        #expect(AttendancesProjection().fold([]).isEmpty)
    }

    @Test func `each attendance event gives one row, in the order of the log`() {
        let added = [(12, 2), (12, 1), (11, 2)].map { event, user in
            AttendanceAdded(event: EventID(rawValue: event), user: UserID(rawValue: user))
        }
        #expect(AttendancesProjection().fold(added.map(envelope)) == added)
    }

    private func envelope(_ added: AttendanceAdded) -> EventEnvelope<AttendanceDomainEvent> {
        EventEnvelope(
            id: UUID(derivedFrom: added.stream.description),
            stream: added.stream,
            version: 1,
            recordedAt: Timestamp(milliseconds: 0),
            metadata: Metadata(requestID: "request-1", actor: nil, traceID: nil),
            event: .added(added)
        )
    }
}
