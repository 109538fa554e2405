import TestDatabase
import Testing

/// Runs a suite by itself, because its faults use the whole machine, and its time limits hold for a machine without other work.
struct Alone: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Capacity.alone { try await body() }
    }
}

extension Trait where Self == Alone {
    static var alone: Alone { Alone() }
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
