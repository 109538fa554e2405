/// The maximum duration of one check of the doctor.
enum Deadline {
    static let seconds = 10.0

    struct Exceeded: Error, CustomStringConvertible {
        var seconds: Double
        var description: String { "no answer within \(Figure.duration(seconds: seconds))" }
    }

    /// Runs the body, and cancels it when the time is over.
    /// - Throws: ``Exceeded``, and the errors of the body
    static func run<Value: Sendable>(
        within seconds: Double = seconds, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
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
