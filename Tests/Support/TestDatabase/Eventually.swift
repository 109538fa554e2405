/// A condition that did not become true in time.
public struct TimeoutError: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Evaluates a condition repeatedly until the condition is true.
///
/// - Parameters:
///   - what: completes the sentence "waited 30 s in vain for …"
///   - limit: far longer than a busy machine needs
///   - pause: between two questions
/// - Throws: `TimeoutError` after the limit, with the line of the test; `CancellationError`; what the condition throws
public func eventually(
    _ what: String = "a condition", within limit: Duration = .seconds(30), every pause: Duration = .milliseconds(10),
    fileID: String = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw TimeoutError(description: "waited \(limit) in vain for \(what), at \(fileID):\(line)")
        }
        try await Task.sleep(for: pause)
    }
}
