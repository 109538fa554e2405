import Encoding
import EventStore
import TestChance
import TestDatabase
import Testing

@testable import Users

@Suite struct `Decoding faulty stored users` {
    @Test(arguments: [1, 2] as [UInt64]) func `faulty user data is decoded faithfully or refused with a named error`(seed: UInt64)
        throws
    {
        var mutations = Mutations(seed: seed)
        let inputs = [#"{"device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}"#]
        let types = UserDomainEvent.storedTypes.map(\.name)
        for number in 0..<5_000 {
            let type = types[number % types.count]
            let stored = StoredEvent(type: type, format: 1, together: mutations.next(of: inputs), of: UserDomainEvent.self)
            let stream = StreamName(mutations.text(of: ["user-1", "user-9223372036854775807"]))
            do {
                let event = try UserDomainEvent.decode(stored)
                try #require(
                    try UserDomainEvent.decode(stored.type, together: event.stored.data.utf8) == event)
                try event.check(in: stream, version: event.stored.type == "UserCreated" ? 1 : 2)
                try #require(try #require(UserID(stream: stream)).stream == stream)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }
}
