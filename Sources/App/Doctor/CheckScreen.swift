internal import Synchronization

/// What the doctor prints: each check as soon as it is known, so that a slow one does not hide those before it.
final class CheckScreen: Sendable {
    private let output: Output
    private let rows: Mutex<RowWriter>
    private let shown = Mutex<[Check]>([])

    /// - Parameter names: of all checks, for the width of their column
    init(_ output: Output, names: [String]) {
        self.output = output
        rows = Mutex(
            output.rows([
                Column("check", width: names.map(\.count).max() ?? 0), "state", "result", Column("hint", isForPrograms: true),
            ]))
    }

    /// Whether a check was bad.
    var isBad: Bool { shown.withLock { $0.contains { $0.state == .bad } } }

    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func show(_ check: Check) throws {
        try rows.withLock { try $0.write([check.fields]) }
        shown.withLock { $0.append(check) }
    }

    /// People read what to do below the table, where a line has room for it.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func end() throws {
        let hints = shown.withLock { $0.filter { $0.hint != nil } }
        guard output.format != .json, !hints.isEmpty else { return }
        try output.say("")
        try output.write(Record(fields: hints.map { (name: $0.name, value: .text($0.hint)) }))
    }
}

extension Check {
    fileprivate var fields: [Field] { [.text(name), .state(state.field, state.rawValue), .text(result), .text(hint)] }
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
