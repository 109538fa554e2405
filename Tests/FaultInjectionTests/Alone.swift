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
