internal import EventStore
internal import Synchronization

/// Prints each check of the doctor as soon as it ends, so that a slow check does not delay earlier lines.
final class CheckScreen: Sendable {
    private let output: Output
    private let rows: Mutex<RowWriter>
    private let shown = Mutex<[Check]>([])

    static let table: [RowColumn<Check>] = [
        .text("check", length: DoctorReport.names.map(\.count).max() ?? 0) { $0.name },
        .state("state") { ($0.state.health, $0.state.rawValue) }, .text("result") { $0.result },
        .text("hint", .detail) { $0.hint },
    ]

    init(_ output: Output) {
        self.output = output
        rows = Mutex(RowWriter(output: output, columns: Self.table.map(\.column)))
    }

    /// Whether a check was bad.
    var isBad: Bool { shown.withLock { $0.contains { $0.state == .bad } } }

    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func show(_ check: Check) throws {
        try rows.withLock { try $0.write([Self.table.map { $0.value(check) }]) }
        shown.withLock { $0.append(check) }
    }

    /// Prints the hints below the table, where a line has room for them, unless the user chose the columns.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func end() throws {
        let hints = shown.withLock { $0.filter { $0.hint != nil } }
        guard output.format != .json, output.columns == nil, !hints.isEmpty else { return }
        try output.say("")
        try output.write(Record(fields: hints.map { (name: $0.name, value: .text($0.hint ?? "")) }))
    }
}

extension Check.State {
    fileprivate var health: ReportValue.Health {
        switch self {
        case .ok: .good
        case .warn: .doubtful
        case .bad: .bad
        }
    }
}
