import Synchronization
import Testing

@testable import HTTPServer

@Suite struct `Beginning to drain` {
    @Test func `an action is called once, when the drain begins or at once afterwards`() {
        let drain = Drain()
        let early = Atomic(0)
        let late = Atomic(0)
        drain.onBegin { early.add(1, ordering: .relaxed) }
        #expect(early.load(ordering: .relaxed) == 0)
        drain.begin()
        drain.onBegin { late.add(1, ordering: .relaxed) }
        drain.begin()
        #expect((early.load(ordering: .relaxed), late.load(ordering: .relaxed)) == (1, 1))
    }
}
