import Encoding
import Foundation
import TestChance
import Testing

@testable import EventStore

/// Each input is read or refused with an error: a trap would end the test process.
@Suite struct `Reading faulty metadata and stored events` {
    @Test(arguments: [1, 2] as [UInt64]) func `faulty metadata read back unchanged or are refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            #"{"request_id":"test","actor":7,"trace_id":"0af7651916cd43dd8448eb211c80319c"}"#,
            #"{"request_id":"","actor":null,"trace_id":null}"#,
        ]
        for _ in 0..<5_000 {
            do {
                let values = try Metadata(stored: mutations.next(of: inputs)).values()
                let metadata = Metadata(requestID: values.requestID, actor: values.actor, traceID: values.traceID)
                try #require(try metadata.values() == values)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }

    @Test(arguments: [3, 4] as [UInt64]) func `faulty stored events read back unchanged or are refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for _ in 0..<5_000 {
            let type = mutations.text(of: ["TeaBrewed", "TeaBrewed", "TeaDrunk"])
            let format = Int16(truncatingIfNeeded: mutations.number(Int16.self))
            for (type, format) in [(type, 1), ("TeaBrewed", format), ("TeaBrewed", 2), ("TeaBrewed", 3)] as [(String, Int16)] {
                do {
                    let data = mutations.next(of: [#"{"seconds":200,"sort":"Assam"}"#, #"{"seconds":200}"#])
                    let event = try TeaDomainEvent.decode(StoredEvent(type: type, format: format, facts: data))
                    let current = TeaDomainEvent.writtenFormat(of: type)
                    try #require(
                        try TeaDomainEvent.decode(StoredEvent(type: type, format: current, facts: event.stored.data.utf8))
                            == event)
                } catch is FormatError {
                    // The error is a sentence that names the violation.
                }
            }
        }
    }
}
