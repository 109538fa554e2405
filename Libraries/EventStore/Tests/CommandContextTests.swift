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

    @Test func `equal keys and callers give equal ids, and the same ids as in stored logs`() {
        #expect(Self.context.commandID(of: 7) == UUID(derivedFrom: "command 7 once"))
        #expect(Self.context.commandID(of: 8) == UUID(derivedFrom: "command 8 once"))
        #expect(Self.context.commandID(of: StreamName("account-7")) == UUID(derivedFrom: "command account-7 once"))
        #expect(CommandContext(requestID: "request-1").commandID(of: 7) == nil)
    }
}
