import NIOCore
import Testing

@testable import HTTPServer

@Suite struct `Timing the phases of a connection` {
    private static let limits = ConnectionLimits(idleSeconds: 75, arrivalSeconds: 20, responseSeconds: 30)

    private static func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000) + .seconds(seconds) }

    private static func phase(_ changes: (inout ConnectionPhase) -> Void) -> ConnectionPhase {
        var phase = ConnectionPhase(at: at(0))
        changes(&phase)
        return phase
    }

    private static func expect(
        _ phase: ConnectionPhase, _ actions: KeyValuePairs<Int64, ConnectionPhase.DueAction>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (seconds, action) in actions {
            #expect(phase.dueAction(at: at(seconds), limits) == action, "after \(seconds) s", sourceLocation: sourceLocation)
        }
    }

    @Test func `a connection without a request is closed after the arrival limit`() {
        Self.expect(Self.phase { _ in }, [0: .wait(until: Self.at(20)), 19: .wait(until: Self.at(20)), 20: .close])
    }

    @Test func `a request head must arrive within the limit from its first byte on`() {
        let phase = Self.phase {
            $0.headBegins(at: Self.at(5))
            $0.headBegins(at: Self.at(20))
        }
        Self.expect(phase, [24: .wait(until: Self.at(25)), 25: .refuseSlowArrival])
    }

    @Test func `a body has the rest of its head's time`() {
        var phase = Self.phase {
            $0.headBegins(at: Self.at(5))
            $0.headEnds(at: Self.at(10))
        }
        #expect(phase.isReceiving)
        Self.expect(phase, [24: .wait(until: Self.at(25)), 25: .refuseSlowArrival])
        // The route refuses a body that is too large at once. The server does not wait for the rest of the body.
        phase.bodyIsCutOff()
        phase.responseBegins(at: Self.at(12))
        #expect(!phase.isReceiving && phase.isRest && phase.isResponding)
        Self.expect(phase, [61: .wait(until: Self.at(62)), 62: .refuseSlowResponse])
        phase.responseEnds(at: Self.at(13))
        #expect(!phase.isResponding)
        Self.expect(phase, [24: .wait(until: Self.at(25)), 25: .close])
    }

    @Test func `a response must come within the response limit`() {
        var phase = Self.phase {
            $0.headEnds(at: Self.at(1))
            $0.responseBegins(at: Self.at(1))
            $0.bodyEnds()
        }
        Self.expect(phase, [1: .wait(until: Self.at(31)), 30: .wait(until: Self.at(31)), 31: .refuseSlowResponse])
        phase.responseEnds(at: Self.at(2))
        // The connection may be idle for a while before it is closed.
        Self.expect(phase, [2: .wait(until: Self.at(77)), 76: .wait(until: Self.at(77)), 77: .close])
        phase.headBegins(at: Self.at(70))
        Self.expect(phase, [89: .wait(until: Self.at(90)), 90: .refuseSlowArrival])
    }

    @Test func `an idle connection is closed at the idle limit after the last request`() {
        let phase = Self.phase {
            for second: Int64 in [1, 60] {
                $0.headEnds(at: Self.at(second))
                $0.bodyEnds()
            }
        }
        Self.expect(phase, [134: .wait(until: Self.at(135)), 135: .close])
    }

    @Test func `the time of a pipelined request begins when the response before it ends`() {
        var phase = Self.phase {
            $0.headEnds(at: Self.at(1))
            $0.responseBegins(at: Self.at(1))
            $0.bodyEnds()
            $0.headBegins(at: Self.at(2))
        }
        #expect(phase.isReceiving && phase.isResponding)
        Self.expect(phase, [22: .wait(until: Self.at(31)), 31: .refuseSlowResponse])
        phase.responseEnds(at: Self.at(25))
        Self.expect(phase, [44: .wait(until: Self.at(45)), 45: .refuseSlowArrival])
    }
}
