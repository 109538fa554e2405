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
    var finding: String
    var remedy: String?

    init(_ name: String, _ state: State, _ finding: String, remedy: String? = nil) {
        self.name = name
        self.state = state
        // libpq's sentences come in lines.
        self.finding = finding.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.remedy = remedy
    }

    /// What the body finds. Where it cannot look, that is what was found.
    static func looking(at name: String, _ body: () async throws -> Check) async -> Check {
        do { return try await body() } catch {
            return Check(name, .bad, "cannot be looked at: \(error)", remedy: "Mend what the other lines say, then look again.")
        }
    }
}

extension Output {
    /// People read what to do below the table, where a line has room for it.
    func write(_ checks: [Check]) throws {
        let remedies = checks.filter { $0.remedy != nil }
        switch format {
        case .json: try write(Table("check", "state", "finding", "remedy", rows: checks.map { $0.fields + [.text($0.remedy)] }))
        case .text:
            try write(Table("check", "state", "finding", rows: checks.map(\.fields)))
            guard !remedies.isEmpty else { return }
            try say("")
            try write(Record(fields: remedies.map { (name: $0.name, value: .text($0.remedy)) }))
        }
    }
}

extension Check {
    fileprivate var fields: [Field] { [.text(name), .state(state.field, state.rawValue), .text(finding)] }
}

extension Check.State {
    fileprivate var field: Field.State {
        switch self {
        case .ok: .good
        case .warn: .doubtful
        case .bad: .bad
        }
    }
}
