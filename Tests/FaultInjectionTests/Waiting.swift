import TestDatabase

/// Waits until a condition is true.
/// - Throws: a violation of ``Check/recovery`` if the condition stays false; `CancellationError`; what the condition throws
func wait(for what: String, withinSeconds seconds: Double = 60, until isSo: () async throws -> Bool) async throws {
    do {
        try await eventually(what, within: .seconds(seconds), every: .milliseconds(5), isSo)
    } catch let late as TimeoutError {
        throw Violation(check: .recovery, sentence: late.description)
    }
}
