import Foundation
import Testing

@Suite(.serialized) struct `Whatever is killed, cut or held` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["TORTURE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    private static let faults = environment["TORTURE_FAULTS"].flatMap { Int($0) } ?? TortureSchedule.defaultFaults

    /// `TORTURE_FAULTS` says how many faults, `TORTURE_SEED` which.
    @Test func `nothing acknowledged is lost, nothing is done twice, and every reader sees it all`() async throws {
        let schedule = TortureSchedule(seed: Self.seed, faults: Self.faults)
        print("torture: TORTURE_SEED=\(Self.seed) TORTURE_FAULTS=\(Self.faults), \(schedule.kills) kills")
        let report = try await TortureRun.run(schedule, isMoving: true)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        #expect(report.violations.isEmpty, "TORTURE_SEED=\(Self.seed)")
        #expect(report.injected == schedule.faults)
        #expect(report.clients.commands.count { $0.fate == .acknowledged } > 0)
    }
}

@Suite struct `A schedule of faults` {
    @Test func `is the same for the same seed, and another for another`() {
        #expect(TortureSchedule(seed: 7) == TortureSchedule(seed: 7))
        #expect(TortureSchedule(seed: 7).faults != TortureSchedule(seed: 8).faults)
    }

    @Test func `kills ten times in its short version, and a hundred times with every kind of fault in its long one`() {
        let (short, long) = (TortureSchedule(seed: 1), TortureSchedule(seed: 1, faults: 180))
        #expect(short.kills >= 10)
        #expect(Set(short.faults.map(\.kind)).count == 11)
        #expect(long.kills >= 100)
        #expect(Set(long.faults.map(\.kind)).count == 12)
    }
}
