import Testing

@testable import LoadGenerator

@Suite struct `The schedule of a route` {
    @Test func `requests are due at equal distances`() {
        let schedule = Schedule(first: 100, perSecond: 1_000)
        #expect((0..<4).map(schedule.due) == [100, 1_000_100, 2_000_100, 3_000_100])
    }

    @Test func `the rounding of distances does not add up`() {
        // A distance of 333,333,333.3 ns.
        let schedule = Schedule(first: 0, perSecond: 3)
        #expect(schedule.due(3) == 1_000_000_000)
        #expect(schedule.due(3_000_000) == 1_000_000_000_000_000)
    }

    @Test(arguments: [0.1, 3, 7, 999.9, 12_345.678])
    func `the count before a moment is the number of the first request that is not before it`(perSecond: Double) {
        let schedule = Schedule(first: 1_234, perSecond: perSecond)
        for end: Int64 in [0, 1_234, 1_235, 1_000_000_000, 59_999_999_999] {
            let count = schedule.count(before: end)
            #expect(schedule.due(count) >= end)
            if count > 0 { #expect(schedule.due(count - 1) < end) }
        }
    }

    @Test func `a moment belongs to the window that holds it, and warm-up and end belong to none`() {
        let windows = Windows(warmUp: 10, length: 5, count: 2)
        #expect([0, 9, 10, 14, 15, 19, 20].map(windows.index) == [nil, nil, 0, 0, 1, 1, nil])
    }
}
