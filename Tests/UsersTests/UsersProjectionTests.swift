import Encoding
import EventStore
import Foundation
import Testing

@testable import Users

@Suite struct `Folding the domain events of users` {
    private let ann = DeviceToken(secret: "device of Ann").digest
    private let bob = DeviceToken(secret: "device of Bob").digest

    @Test func `no domain events give no user rows`() {
        #expect(UsersProjection().fold([]).isEmpty)
    }

    @Test func `each new user gives one row, in the order of the log`() {
        #expect(
            UsersProjection().fold([created("user-2", ann), created("user-1", bob)]) == [
                UsersProjection.Row(id: UserID(rawValue: 2), device: ann),
                UsersProjection.Row(id: UserID(rawValue: 1), device: bob),
            ]
        )
    }

    @Test func `streams of other categories give no user rows`() {
        #expect(UsersProjection().fold([created("event-2", ann)]).isEmpty)
    }

    private func created(_ stream: String, _ device: DeviceDigest) -> EventEnvelope<UserDomainEvent> {
        EventEnvelope(
            id: UUID(derivedFrom: stream),
            stream: StreamName(stream),
            version: 1,
            recordedAt: Timestamp(milliseconds: 0),
            metadata: Metadata(requestID: "request-1", actor: nil, traceID: nil),
            event: .created(UserCreated(device: device))
        )
    }
}
