internal import HTTP

/// One line of the doctor: the name of a check, its state and result, and a hint for a problem.
struct DoctorLine: Sendable, Hashable {
    enum State: String, Sendable, Hashable {
        case ok
        /// The service works, but an operator should know this.
        case warn
        case bad
    }

    /// The maximum duration of one check.
    static let seconds = 10.0

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

    /// Runs the check. A body that throws an error or exceeds the time gives a bad check.
    static func looking(at name: String, _ body: @escaping @Sendable () async throws -> DoctorLine) async -> DoctorLine {
        do { return try await Deadline.run(within: seconds, body) } catch {
            return DoctorLine(
                name, .bad, "the check failed: \(error)", hint: "Solve the problems of the other lines, then check again.")
        }
    }
}
