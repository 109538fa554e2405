/// One line of the doctor's: what was looked at, how it is, and what to do where it is not well.
struct Check: Sendable, Hashable {
    enum State: String, Sendable, Hashable {
        case ok
        /// Works, but somebody should know.
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
        // libpq's sentences come in lines.
        self.result = result.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.hint = hint
    }

    /// Runs the check. A body that throws, or exceeds the ``Deadline``, gives a bad check.
    static func looking(at name: String, _ body: @escaping @Sendable () async throws -> Check) async -> Check {
        do { return try await Deadline.run(body) } catch {
            return Check(name, .bad, "cannot be looked at: \(error)", hint: "Mend what the other lines say, then look again.")
        }
    }
}
