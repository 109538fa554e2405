import Testing

@testable import Events

@Suite struct `Waiting for a position` {
    /// Has reached position 3.
    private let state = InMemoryState(staleAfter: .seconds(3))

    init() { state.reach(3) }

    @Test func `a waiter continues when the position is reached, and not before`() async throws {
        #expect(await state.reaches(3, within: 0))
        async let waiting = state.reaches(5, within: 60)
        async let impatient = state.reaches(5, within: 0.1)
        try await Task.sleep(for: .milliseconds(20))
        state.reach(4)
        #expect(await !impatient)
        state.reach(5)
        #expect(await waiting)
    }

    @Test func `a waiter gives up at its deadline and when it is cancelled`() async {
        #expect(await state.reaches(5, within: 0.01) == false)
        let waiting = Task { await state.reaches(5, within: 60) }
        waiting.cancel()
        #expect(await waiting.value == false)
    }

    @Test(.timeLimit(.minutes(15))) func `at most 1,000 tasks wait, and a further one continues at once`() async {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_001 { group.addTask { await state.reaches(5, within: 600) } }
            // The refused task is the first to end. Then all others wait.
            #expect(await group.next() == false)
            state.reach(5)
            #expect(await group.reduce(0) { $0 + ($1 ? 1 : 0) } == 1_000)
        }
    }
}
