import Foundation
import TestChance
import TestDatabase

/// `FaultInjection`: six faults under load. `FaultInjection --long` adds a fail-over, servers that are silent within an append, and nine
/// broken systems, each of which must be found.
///
/// `FAULT_INJECTION_FAULTS` sets the number of faults, `TEST_SEED` their order, `FAULT_INJECTION_SERVER` the program of the servers. The
/// exit status is 1 if a run failed. Nothing is repeated.
@main
enum FaultInjection {
    typealias Scenario = (name: String, run: @Sendable () async throws -> Void)

    static func main() async {
        let isLong = CommandLine.arguments.contains("--long")
        let scenarios: [Scenario] =
            [("nothing acknowledged is lost or done twice under faults, and every reader sees every write", underFaults)]
            + (isLong
                ? [("nothing acknowledged is lost if a synchronous standby takes over", withFailOver)] + SilentWriters.scenarios
                    + BrokenSystems.scenarios : [])
        var failures = 0
        for (name, run) in scenarios {
            let start = ContinuousClock.now
            var result = "ok"
            do { try await run() } catch {
                failures += 1
                result = "FAILED: \(error)"
            }
            print("faults: \(name): \(result) (\(start.duration(to: .now).components.seconds) s, TEST_SEED=\(seed))")
            fflush(nil)
        }
        exit(failures == 0 ? 0 : 1)
    }

    static let seed = SeededGenerator.seedOfRun

    @Sendable private static func underFaults() async throws {
        let faults = ProcessInfo.processInfo.environment["FAULT_INJECTION_FAULTS"].flatMap { Int($0) }
        let report = try await run(faults.map { .init(seed: seed, faults: $0) } ?? .ofGate(seed: seed), isMoving: true)
        try expect(report.clients.commands.contains { $0.fate == .acknowledged }, "a command was acknowledged")
        let types: Set = [
            "AccountCreated", "SignedIn", "SignedOut", "TaskCreated", "TaskRenamed", "TaskCompleted", "TokenRevoked",
        ]
        try expect(types.isSubset(of: report.log.map(\.type)), "the log has \(types.sorted())")
    }

    @Sendable private static func withFailOver() async throws { _ = try await run(.ofFailOver(seed: seed), isMoving: false) }

    private static func run(_ schedule: FaultInjectionSchedule, isMoving: Bool) async throws -> FaultInjectionReport {
        print("faults: \(schedule.faults.count), \(schedule.kills) of them kills")
        let report = try await FaultInjectionRun.run(schedule, isMoving: isMoving)
        print(report.figures)
        for violation in report.violations { print("violation: \(violation)") }
        try expect(report.violations.isEmpty, "there is no violation")
        try expect(report.injected == schedule.faults, "every fault happened")
        return report
    }
}

/// What a scenario expected did not happen.
struct Unexpected: Error, CustomStringConvertible {
    var expectation: String
    var description: String { "it is not so that \(expectation)" }
}

/// - Throws: ``Unexpected``
func expect(_ condition: Bool, _ expectation: String) throws(Unexpected) {
    guard condition else { throw Unexpected(expectation: expectation) }
}

/// Waits until a condition is true.
/// - Throws: a violation of ``Check/recovery`` if the condition stays false; `CancellationError`; what the condition throws
func wait(for what: String, withinSeconds seconds: Double = 60, until isSo: () async throws -> Bool) async throws {
    do {
        try await eventually(what, within: .seconds(seconds), every: .milliseconds(5), isSo)
    } catch let late as TimeoutError {
        throw Violation(check: .recovery, sentence: late.description)
    }
}
