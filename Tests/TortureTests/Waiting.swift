/// Polls until something is so.
/// - Throws: a violation of ``Check/recovery`` where it is not so in time; `CancellationError`
func wait(for what: String, withinSeconds seconds: Double = 60, until isSo: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(seconds)
    while try await !isSo() {
        guard clock.now < deadline else {
            throw Violation(check: .recovery, sentence: "waited \(Int(seconds)) s in vain for \(what)")
        }
        try await clock.sleep(for: .milliseconds(5))
    }
}
