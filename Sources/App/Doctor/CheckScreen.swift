internal import Synchronization

/// Prints each check of the doctor as soon as it ends, so that a slow check does not delay earlier lines.
final class CheckScreen: Sendable {
    private let output: Output
    private let rows: Mutex<RowWriter>
    private let shown = Mutex<[Check]>([])

    /// - Parameter names: the names of all checks, for the width of their column
    static func columns(names: [String]) -> [Column] {
        [
            Column("check", width: names.map(\.displayWidth).max() ?? 0), "state", "result",
            Column("hint", isForPrograms: true),
        ]
    }

    init(_ output: Output, columns: [Column]) {
        self.output = output
        rows = Mutex(output.rows(columns))
    }

    /// Whether a check was bad.
    var isBad: Bool { shown.withLock { $0.contains { $0.state == .bad } } }

    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func show(_ check: Check) throws {
        try rows.withLock { try $0.write([check.fields]) }
        shown.withLock { $0.append(check) }
    }

    /// Prints the hints below the table, where a line has room for them, unless the user chose the columns.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func end() throws {
        let hints = shown.withLock { $0.filter { $0.hint != nil } }
        guard output.format != .json, output.columns == nil, !hints.isEmpty else { return }
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
