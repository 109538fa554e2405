import Testing

@testable import EventStore

@Suite struct `Forming batches` {
    private let start = ContinuousClock.now
    private let interval = BatchSchedule.interval

    private func decision(_ schedule: BatchSchedule, queued: Int, after elapsed: Duration = .zero) -> BatchSchedule.Decision {
        schedule.decision(queued: queued, isClosed: false, now: start + elapsed)
    }

    @Test func `an append to a log that is not busy is sent immediately`() {
        var schedule = BatchSchedule()
        #expect(decision(schedule, queued: 0) == .wait(until: nil))
        #expect(decision(schedule, queued: 1) == .send)
        schedule.begin(1, at: start)
        schedule.end(1)
        #expect(decision(schedule, queued: 1) == .send)
    }

    @Test func `a second transaction is sent when it is as large as the one in flight`() {
        var schedule = BatchSchedule()
        schedule.begin(10, at: start)
        #expect(decision(schedule, queued: 9, after: interval * 2) == .wait(until: nil))
        #expect(decision(schedule, queued: 10) == .send)
        // A full batch does not wait for a larger one.
        schedule.begin(5 * BatchSchedule.batchLimit, at: start)
        #expect(decision(schedule, queued: BatchSchedule.batchLimit) == .send)
    }

    @Test(arguments: [2, BatchSchedule.largeBatch, 100])
    func `after appends that came together a small batch waits for the interval, and a large one does not`(together: Int) {
        var schedule = BatchSchedule()
        schedule.begin(together, at: start)
        schedule.end(together)
        #expect(decision(schedule, queued: 1) == .wait(until: start + interval))
        #expect(decision(schedule, queued: BatchSchedule.largeBatch - 1) == .wait(until: start + interval))
        #expect(decision(schedule, queued: BatchSchedule.largeBatch) == .send)
        #expect(decision(schedule, queued: 1, after: interval) == .send)
    }

    @Test func `a log that is being closed sends the rest of its queue`() {
        var schedule = BatchSchedule()
        schedule.begin(10, at: start)
        #expect(schedule.decision(queued: 1, isClosed: true, now: start) == .send)
        #expect(schedule.decision(queued: 0, isClosed: true, now: start) == .wait(until: nil))
    }
}
