import NIOCore
import Testing

@testable import HTTPServer

@Suite struct `Timing the phases of a connection` {
    private static let limits = ConnectionLimits()

    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000) + .seconds(seconds) }

    private static func timeouts(_ changes: (inout ConnectionTimeouts) -> Void) -> ConnectionTimeouts {
        var timeouts = ConnectionTimeouts(at: at(0))
        changes(&timeouts)
        return timeouts
    }

    private static func expect(
        _ timeouts: ConnectionTimeouts, _ actions: KeyValuePairs<Int64, ConnectionTimeouts.DueAction>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (seconds, action) in actions {
            #expect(timeouts.dueAction(at: at(seconds), limits) == action, "after \(seconds) s", sourceLocation: sourceLocation)
        }
    }

    @Test func `a connection without a request is closed after the arrival limit`() {
        Self.expect(Self.timeouts { _ in }, [0: .wait(until: Self.at(20)), 19: .wait(until: Self.at(20)), 20: .close])
    }

    @Test func `a request head must arrive within the limit from its first byte on`() {
        let timeouts = Self.timeouts {
            $0.headBegins(at: Self.at(5))
            $0.headBegins(at: Self.at(20))
        }
        Self.expect(timeouts, [24: .wait(until: Self.at(25)), 25: .refuseSlowArrival])
    }

    @Test func `a body has the rest of its head's time`() {
        var timeouts = Self.timeouts {
            $0.headBegins(at: Self.at(5))
            $0.headEnds(at: Self.at(10))
        }
        #expect(timeouts.isReceiving)
        Self.expect(timeouts, [24: .wait(until: Self.at(25)), 25: .refuseSlowArrival])
        // The route refuses a body that is too large at once. The server does not wait for the rest of the body.
        timeouts.bodyIsCutOff()
        timeouts.responseBegins(at: Self.at(12))
        #expect(!timeouts.isReceiving && timeouts.isRest && timeouts.isResponding)
        Self.expect(timeouts, [61: .wait(until: Self.at(62)), 62: .refuseSlowResponse])
        timeouts.responseEnds(at: Self.at(13))
        #expect(!timeouts.isResponding)
        Self.expect(timeouts, [24: .wait(until: Self.at(25)), 25: .close])
    }

    @Test func `a response must come within the response limit`() {
        var timeouts = Self.timeouts {
            $0.headEnds(at: Self.at(1))
            $0.responseBegins(at: Self.at(1))
            $0.bodyEnds()
        }
        Self.expect(timeouts, [1: .wait(until: Self.at(31)), 30: .wait(until: Self.at(31)), 31: .refuseSlowResponse])
        timeouts.responseEnds(at: Self.at(2))
        // The connection may be idle for a while before it is closed.
        Self.expect(timeouts, [2: .wait(until: Self.at(77)), 76: .wait(until: Self.at(77)), 77: .close])
        timeouts.headBegins(at: Self.at(70))
        Self.expect(timeouts, [89: .wait(until: Self.at(90)), 90: .refuseSlowArrival])
    }

    @Test func `an idle connection is closed at the idle limit after the last request`() {
        let timeouts = Self.timeouts {
            for second: Int64 in [1, 60] {
                $0.headEnds(at: Self.at(second))
                $0.bodyEnds()
            }
        }
        Self.expect(timeouts, [134: .wait(until: Self.at(135)), 135: .close])
    }

    @Test func `the time of a pipelined request begins when the response before it ends`() {
        var timeouts = Self.timeouts {
            $0.headEnds(at: Self.at(1))
            $0.responseBegins(at: Self.at(1))
            $0.bodyEnds()
            $0.headBegins(at: Self.at(2))
        }
        #expect(timeouts.isReceiving && timeouts.isResponding)
        Self.expect(timeouts, [22: .wait(until: Self.at(31)), 31: .refuseSlowResponse])
        timeouts.responseEnds(at: Self.at(25))
        Self.expect(timeouts, [44: .wait(until: Self.at(45)), 45: .refuseSlowArrival])
    }

    @Test func `a connection is idle since its last request, and not while a request arrives or a task works on it`() {
        var timeouts = Self.timeouts { _ in }
        #expect(timeouts.idleSince == Self.at(0))
        timeouts.headBegins(at: Self.at(1))
        #expect(timeouts.idleSince == nil)
        timeouts.headEnds(at: Self.at(2))
        #expect(timeouts.idleSince == nil)
        timeouts.bodyEnds()
        #expect(timeouts.idleSince == Self.at(2))
        timeouts.responseBegins(at: Self.at(3))
        #expect(timeouts.idleSince == nil)
        timeouts.responseEnds(at: Self.at(4))
        #expect(timeouts.idleSince == Self.at(4))
    }
}
