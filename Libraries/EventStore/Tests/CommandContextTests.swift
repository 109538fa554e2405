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

    @Test func `a key and its caller name the command`() {
        for caller in ["user-7", "user-8", "account-7"] {
            #expect(Self.context.commandName(of: StreamName(caller)) == "command \(caller) once")
        }
        #expect(CommandContext(requestID: "request-1").commandName(of: StreamName("user-7")) == nil)
    }
}
