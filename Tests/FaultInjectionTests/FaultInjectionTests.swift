import Foundation
import Testing

@Suite(.serialized) struct `Whatever is killed, cut or held` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["FAULT_INJECTION_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    private static let faults = environment["FAULT_INJECTION_FAULTS"].flatMap { Int($0) } ?? FaultInjectionSchedule.defaultFaults

    /// `FAULT_INJECTION_FAULTS` says how many faults, `FAULT_INJECTION_SEED` which.
    @Test func `nothing acknowledged is lost, nothing is done twice, and every reader sees it all`() async throws {
        let schedule = FaultInjectionSchedule(seed: Self.seed, faults: Self.faults)
        print("faultInjection: FAULT_INJECTION_SEED=\(Self.seed) FAULT_INJECTION_FAULTS=\(Self.faults), \(schedule.kills) kills")
        let report = try await FaultInjectionRun.run(schedule, isMoving: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "FAULT_INJECTION_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
        #expect(report.clients.commands.count { $0.fate == .acknowledged } > 0)
    }
}

@Suite struct `A schedule of faults` {
    @Test func `is the same for the same seed, and another for another`() {
        #expect(FaultInjectionSchedule(seed: 7) == FaultInjectionSchedule(seed: 7))
        #expect(FaultInjectionSchedule(seed: 7).faults != FaultInjectionSchedule(seed: 8).faults)
    }

    @Test func `kills ten times in its short version, and a hundred times with every kind of fault in its long one`() {
        let (short, long) = (FaultInjectionSchedule(seed: 1), FaultInjectionSchedule(seed: 1, faults: 180))
        #expect(short.kills >= 10)
        #expect(Set(short.faults.map(\.kind)).count == 11)
        #expect(long.kills >= 100)
        #expect(Set(long.faults.map(\.kind)).count == 12)
    }
}
