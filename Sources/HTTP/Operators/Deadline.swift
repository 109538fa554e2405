/// The maximum duration of some work.
package enum Deadline {
    package struct Exceeded: Error, CustomStringConvertible {
        var seconds: Double
        package var description: String { "no answer within \(seconds) s" }
    }

    /// Runs the body, and cancels it when the time is over.
    /// - Throws: ``Exceeded``, and the errors of the body
    package static func run<Value: Sendable>(
        within seconds: Double, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw Exceeded(seconds: seconds)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
