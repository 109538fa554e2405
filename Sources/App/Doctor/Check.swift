/// One line of the doctor: the name of a check, its state and result, and a hint for a problem.
struct Check: Sendable, Hashable {
    enum State: String, Sendable, Hashable {
        case ok
        /// The service works, but an operator should know this.
        case warn
        case bad
    }

    var name: String
    var state: State
    var result: String
    var hint: String?

    init(_ name: String, _ state: State, _ result: String, hint: String? = nil) {
        self.name = name
        self.state = state
        // Messages of libpq have several lines.
        self.result = result.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.hint = hint
    }

    /// Runs the check. A body that throws an error or exceeds the ``Deadline`` gives a bad check.
    static func looking(at name: String, _ body: @escaping @Sendable () async throws -> Check) async -> Check {
        do { return try await Deadline.run(body) } catch {
            return Check(
                name, .bad, "the check failed: \(error)", hint: "Solve the problems of the other lines, then check again.")
        }
    }
}

/// The maximum duration of some work.
enum Deadline {
    /// Of one check of the doctor.
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
