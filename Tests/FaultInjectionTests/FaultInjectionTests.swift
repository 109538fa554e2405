import Foundation
import Testing

@Suite(.serialized, .alone) struct `Faults under load` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["FAULT_INJECTION_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    private static let faults = environment["FAULT_INJECTION_FAULTS"].flatMap { Int($0) } ?? FaultInjectionSchedule.defaultFaults

    /// `FAULT_INJECTION_FAULTS` sets the number of faults, `FAULT_INJECTION_SEED` their order.
    @Test func `nothing acknowledged is lost or done twice under faults, and every reader sees every write`() async throws {
        let schedule = FaultInjectionSchedule(seed: Self.seed, faults: Self.faults)
        print("fault injection: FAULT_INJECTION_SEED=\(Self.seed) FAULT_INJECTION_FAULTS=\(Self.faults), \(schedule.kills) kills")
        let report = try await FaultInjectionRun.run(schedule, isMoving: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "FAULT_INJECTION_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
        #expect(report.clients.commands.count { $0.fate == .acknowledged } > 0)
        let types: Set = [
            "AccountCreated", "SignedIn", "SignedOut", "TaskCreated", "TaskRenamed", "TaskCompleted", "TokenRevoked",
        ]
        if Self.faults >= FaultInjectionSchedule.defaultFaults { #expect(types.subtracting(report.log.map(\.type)) == []) }
    }

    @Test func `servers that read from a standby are never wrong while it is killed, restarted and paused`() async throws {
        let schedule = FaultInjectionSchedule.ofStandby(seed: Self.seed)
        print("fault injection with a standby: FAULT_INJECTION_SEED=\(Self.seed)")
        let report = try await FaultInjectionRun.run(schedule, isMoving: false, hasStandby: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "FAULT_INJECTION_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
        #expect(report.pagesOfStandby > 0)
    }

    @Test func `nothing acknowledged is lost if a synchronous standby takes over`() async throws {
        let schedule = FaultInjectionSchedule.ofFailOver(seed: Self.seed)
        print("fault injection with a fail-over: FAULT_INJECTION_SEED=\(Self.seed)")
        let report = try await FaultInjectionRun.run(schedule, isMoving: false, hasStandby: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "FAULT_INJECTION_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
    }
}

@Suite struct `Scheduling faults` {
    @Test func `equal seeds give equal schedules, and different seeds different ones`() {
        #expect(FaultInjectionSchedule(seed: 7) == FaultInjectionSchedule(seed: 7))
        #expect(FaultInjectionSchedule(seed: 7).faults != FaultInjectionSchedule(seed: 8).faults)
    }

    @Test func `a short schedule has at least ten kills, and a long one a hundred and every kind of fault`() {
        let (short, long) = (FaultInjectionSchedule(seed: 1), FaultInjectionSchedule(seed: 1, faults: 180))
        #expect(short.kills >= 10)
        #expect(Set(short.faults.map(\.kind)).count == 11)
        #expect(long.kills >= 100)
        #expect(Set(long.faults.map(\.kind)).count == 12)
    }
}
