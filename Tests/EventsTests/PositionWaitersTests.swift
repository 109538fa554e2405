import Testing

@testable import Events

@Suite struct `Waiting for a position` {
    @Test func `a waiter continues when the position is reached, and not before`() async throws {
        let waiters = PositionWaiters()
        #expect(await waiters.wait(for: 5, seconds: 0) { 5 })
        async let waiting = waiters.wait(for: 5, seconds: 60) { 3 }
        async let impatient = waiters.wait(for: 5, seconds: 0.1) { 3 }
        try await Task.sleep(for: .milliseconds(20))
        waiters.reached(4)
        #expect(await !impatient)
        waiters.reached(5)
        #expect(await waiting)
    }

    @Test func `a waiter gives up at its deadline and when it is cancelled`() async {
        let waiters = PositionWaiters()
        #expect(await waiters.wait(for: 5, seconds: 0.01) { 3 } == false)
        let waiting = Task { await waiters.wait(for: 5, seconds: 60) { 3 } }
        waiting.cancel()
        #expect(await waiting.value == false)
    }

    @Test(.timeLimit(.minutes(15))) func `at most 1,000 tasks wait, and a further one continues at once`() async {
        let waiters = PositionWaiters()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_001 { group.addTask { await waiters.wait(for: 5, seconds: 600) { 3 } } }
            // The refused task is the first to end. Then all others wait.
            #expect(await group.next() == false)
            waiters.reached(5)
            #expect(await group.reduce(0) { $0 + ($1 ? 1 : 0) } == 1_000)
        }
    }
}
