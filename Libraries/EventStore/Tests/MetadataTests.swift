import Encoding
import Foundation
import Testing

@testable import EventStore

@Suite struct `Storing metadata` {
    @Test(arguments: [
        (
            #"{"request_id":"request-1","actor":7,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"#,
            Metadata(requestID: "request-1", actor: 7, traceID: "4bf92f3577b34da6a3ce929d0e0e4736")
        ),
        (
            #"{"request_id":"request-1","actor":null,"trace_id":null}"#,
            Metadata(requestID: "request-1", actor: nil, traceID: nil)
        ),
    ])
    func `metadata are stored as these bytes and read from them`(text: String, metadata: Metadata) throws {
        #expect(String(decoding: metadata.utf8, as: UTF8.self) == text)
        #expect(try Metadata(stored: Array(text.utf8)).values() == metadata.values())
    }

    @Test(arguments: ["", "{}", #"{"request_id":7,"actor":1,"trace_id":null}"#])
    func `unusable metadata are refused when they are decoded`(text: String) {
        #expect(throws: FormatError.self) { try Metadata(stored: Array(text.utf8)).values() }
    }
}

@Suite struct `Deriving an id from a name` {
    /// Retries after years rely on this id: the first 16 bytes of `printf 'attendance 12 1' | sha256sum`, marked as version 8.
    @Test func `the id derived from a name is this UUID`() {
        #expect(UUID(derivedFrom: "attendance 12 1").uuidString == "27AD58C1-CE02-8087-9E91-6E84FABE1DBF")
    }
}

@Suite struct `Making the id of a new domain event` {
    /// The expected time and version were encoded by hand; the remaining bits come from the random UUID.
    @Test func `the id combines the time, version 7 and the random bits`() throws {
        let random = try #require(UUID(uuidString: "01234567-89AB-4CDE-8F01-23456789ABCD"))
        let dependencies = Dependencies(now: { Timestamp(milliseconds: 0x0192_F6A1_B2C3) }, randomUUID: { random })
        #expect(dependencies.newDomainEventID.uuidString == "0192F6A1-B2C3-7CDE-8F01-23456789ABCD")
    }

    @Test func `a random UUID has version 4, variant 2 and all other bits of its bytes`() {
        #expect(UUID(Array(0...15), version: 4).uuidString == "00010203-0405-4607-8809-0A0B0C0D0E0F")
        #expect(
            UUID(Array(repeating: 255, count: 16), version: 4).uuidString == "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF")
        #expect(UUID.random() != UUID.random())
    }
}
