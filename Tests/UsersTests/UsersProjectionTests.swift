import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Folding the domain events of users` {
    private let ann = DeviceToken(secret: "device of Ann").digest
    private let bob = DeviceToken(secret: "device of Bob").digest

    @Test func `each new user gives one row, by id, and a stream of another category none`() {
        let changes = UsersProjection().fold([
            envelope("user-2", 1, .created(device: .present(ann))), envelope("user-1", 1, .created(device: .present(bob))),
            envelope("event-3", 1, .created(device: .present(ann))),
        ])
        #expect(changes.created == [user(1, 1, bob), user(2, 1, ann)])
        #expect(changes.changed.isEmpty)
    }

    @Test func `a user of an earlier batch gives one changed row with the last token`() {
        let changes = UsersProjection().fold([
            envelope("user-1", 2, .rotated(device: .present(ann))), envelope("user-2", 2, .revoked),
            envelope("user-1", 3, .rotated(device: .present(bob))),
        ])
        #expect(changes.created.isEmpty)
        #expect(changes.changed == [user(1, 3, bob), user(2, 2, nil)])
    }

    @Test func `a user of this batch gives one new row with the last token`() {
        let changes = UsersProjection().fold([
            envelope("user-1", 1, .created(device: .present(ann))), envelope("user-1", 2, .rotated(device: .present(bob))),
            envelope("user-1", 3, .revoked),
        ])
        #expect(changes.created == [user(1, 3, nil)])
        #expect(changes.changed.isEmpty)
    }

    @Test func `an erased user has a row without a token`() throws {
        let erased = try UserDomainEvent.decode(
            StoredEvent(type: "UserCreated", format: 1, facts: Array("{}".utf8), personal: .erased))
        let changes = UsersProjection().fold([
            envelope("user-1", 1, erased), envelope("user-1", 2, .erased), envelope("user-2", 3, .erased),
            envelope("user-3", 1, erased),
        ])
        #expect(changes.created == [user(1, 2, nil), user(3, 1, nil)])
        #expect(changes.changed == [user(2, 3, nil)])
    }

    private func user(_ id: Int64, _ version: Int32, _ device: DeviceDigest?) -> User {
        User(id: UserID(rawValue: id), version: version, device: device)
    }

    private func envelope(_ stream: String, _ version: Int32, _ event: UserDomainEvent) -> EventEnvelope<UserDomainEvent> {
        .of(event, in: stream, version: version)
    }
}
