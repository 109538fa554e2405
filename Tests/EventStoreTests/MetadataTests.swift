import Encoding
import Foundation
import Testing

@testable import EventStore

@Suite struct `The stored form of metadata` {
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
    func `is these bytes, both ways`(text: String, metadata: Metadata) throws {
        #expect(String(decoding: metadata.utf8, as: UTF8.self) == text)
        #expect(try Metadata(stored: Array(text.utf8)).values() == metadata.values())
    }

    @Test(arguments: ["", "{}", #"{"request_id":7,"actor":1,"trace_id":null}"#])
    func `is refused where it is none, once somebody wants to know`(text: String) {
        #expect(throws: FormatError.self) { try Metadata(stored: Array(text.utf8)).values() }
    }
}

@Suite struct `An id derived from a name` {
    /// Retries after years rely on it: the first 16 bytes of `printf 'attendance 12 1' | sha256sum`, marked as version 8.
    @Test func `is this one`() {
        #expect(UUID(derivedFrom: "attendance 12 1").uuidString == "27AD58C1-CE02-8087-9E91-6E84FABE1DBF")
    }

    @Test func `is another for another name`() {
        #expect(UUID(derivedFrom: "attendance 12 1") != UUID(derivedFrom: "attendance 1 21"))
    }
}

@Suite struct `The id of a new domain event` {
    /// The time and the version by hand; the rest is that of the random one.
    @Test func `is this one, at this time and with this chance`() throws {
        let random = try #require(UUID(uuidString: "01234567-89AB-4CDE-8F01-23456789ABCD"))
        let dependencies = Dependencies(now: { Timestamp(milliseconds: 0x0192_F6A1_B2C3) }, randomUUID: { random })
        #expect(dependencies.newDomainEventID.uuidString == "0192F6A1-B2C3-7CDE-8F01-23456789ABCD")
    }

    @Test func `is behind those of earlier times, and like no other of its own`() {
        let ids = (0..<1_000).map { millisecond in
            Dependencies(now: { Timestamp(milliseconds: millisecond / 2) }, randomUUID: { .random() }).newDomainEventID
        }
        #expect(Set(ids).count == 1_000)
        let times = ids.map { $0.uuidString.prefix(13) }
        #expect(times == times.sorted())
    }
}
