import Encoding
import EventStore
import TestChance
import Testing

@testable import Attendances

@Suite struct `Decoding faulty stored attendances` {
    @Test(arguments: [1, 2] as [UInt64]) func `faulty attendance data is decoded faithfully or refused with a named error`(
        seed: UInt64
    ) throws {
        var mutations = Mutations(seed: seed)
        let types = AttendanceDomainEvent.storedTypes.map(\.name)
        for number in 0..<5_000 {
            let type = types[number % types.count]
            let data = mutations.next(of: [#"{"event":12,"user":1}"#, #"{"event":9223372036854775807,"user":2147483648}"#])
            let stream = StreamName(mutations.text(of: ["attendance-12-1", "attendance-9223372036854775807-2147483648"]))
            do {
                let event = try AttendanceDomainEvent.decode(StoredEvent(type: type, format: 1, facts: data))
                try #require(
                    try AttendanceDomainEvent.decode(StoredEvent(type: type, format: 1, facts: event.stored.data.utf8)) == event)
                try event.check(in: stream, version: Int32(number % types.count + 1))
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }
}
