import Foundation
import TestChance
import Testing

@Suite(.serialized, .alone) struct `Faults under load` {
    private static let seed = SeededGenerator.seedOfRun
    /// The number of faults of a long run; `nil` for the six of `make test`.
    private static let faults = ProcessInfo.processInfo.environment["FAULT_INJECTION_FAULTS"].flatMap { Int($0) }

    /// `FAULT_INJECTION_FAULTS` sets the number of faults, `TEST_SEED` their order.
    @Test func `nothing acknowledged is lost or done twice under faults, and every reader sees every write`() async throws {
        let schedule = Self.faults.map { FaultInjectionSchedule(seed: Self.seed, faults: $0) } ?? .ofGate(seed: Self.seed)
        print("fault injection: TEST_SEED=\(Self.seed), \(schedule.faults.count) faults, \(schedule.kills) kills")
        let report = try await FaultInjectionRun.run(schedule, isMoving: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "TEST_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
        #expect(report.clients.commands.count { $0.fate == .acknowledged } > 0)
        let types: Set = [
            "AccountCreated", "SignedIn", "SignedOut", "TaskCreated", "TaskRenamed", "TaskCompleted", "TokenRevoked",
        ]
        #expect(types.subtracting(report.log.map(\.type)) == [])
    }

    @Test func `nothing acknowledged is lost if a synchronous standby takes over`() async throws {
        let schedule = FaultInjectionSchedule.ofFailOver(seed: Self.seed)
        print("fault injection with a fail-over: TEST_SEED=\(Self.seed)")
        let report = try await FaultInjectionRun.run(schedule, isMoving: false)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "TEST_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
    }
}

@Suite struct `Scheduling faults` {
    @Test func `equal seeds give equal schedules, and different seeds different ones`() {
        #expect(FaultInjectionSchedule(seed: 7) == FaultInjectionSchedule(seed: 7))
        #expect(FaultInjectionSchedule(seed: 7).faults != FaultInjectionSchedule(seed: 8).faults)
    }

    @Test func `the gate has six kinds of faults, and a long schedule a hundred kills and every kind`() {
        let (short, long) = (FaultInjectionSchedule.ofGate(seed: 1), FaultInjectionSchedule(seed: 1, faults: 180))
        #expect(short.kills == 4)
        #expect(Set(short.faults.map(\.kind)).count == 6)
        #expect(long.kills >= 100)
        #expect(Set(long.faults.map(\.kind)).count == 12)
    }
}
