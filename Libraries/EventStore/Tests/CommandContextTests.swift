import Foundation
import Testing

@testable import EventStore

@Suite struct `The context of a command` {
    private static let context = CommandContext(
        requestID: "request-1", traceID: "4bf92f3577b34da6a3ce929d0e0e4736", key: IdempotencyKey("once", request: "POST".utf8))

    @Test func `a command's context becomes metadata with request, trace and actor`() {
        #expect(
            Self.context.metadata(actor: 7)
                == Metadata(requestID: "request-1", actor: 7, traceID: "4bf92f3577b34da6a3ce929d0e0e4736"))
    }

    @Test func `a command's context without a trace becomes metadata without a trace`() throws {
        #expect(try CommandContext(requestID: "request-1").metadata(actor: 7).values().traceID == nil)
    }

    @Test func `equal keys and actors give equal ids, and the same ids as in stored logs`() {
        let key = Self.context.recordKey(actor: 7)
        #expect(key?.id == UUID(derivedFrom: "command 7 once"))
        #expect(key?.requestHash == RequestHash(of: "POST".utf8))
        #expect(Self.context.recordKey(actor: 8)?.id != key?.id)
        #expect(Self.context.recordKey(actor: StreamName("account-7"))?.id == UUID(derivedFrom: "command account-7 once"))
        #expect(CommandContext(requestID: "request-1").recordKey(actor: 7) == nil)
    }
}
