internal import EventStore
internal import Synchronization

/// Prints an operator report while it runs: its rows to standard output, progress and advice to standard error.
final class ReportPrinter: Sendable {
    private struct State: Sendable {
        var writer: RowWriter
        var bar = ProgressBar()
        var isEmpty = true
    }

    private let report: OperatorReport
    private let output: Output
    private let state: Mutex<State>

    init(_ report: OperatorReport, _ output: Output) {
        (self.report, self.output) = (report, output)
        state = Mutex(State(writer: RowWriter(output: output, columns: report.columns)))
    }

    func progress(_ done: Int64, of total: Int64) { state.withLock { $0.bar.show(done, of: total) } }

    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func show(_ rows: [[ReportValue]]) throws {
        // A closed pipe shows only in a write.
        guard !rows.isEmpty else { return try StandardOutput.checkReader() }
        try state.withLock { state in
            state.bar.stop()
            state.isEmpty = false
            switch report.form {
            case .table: try state.writer.write(rows)
            case .details: try output.write(rows.map(record))
            }
        }
    }

    /// Prints the sentences at the end of a report.
    /// - Throws: ``NegativeResult``, ``OutputClosed``, ``OutputFailed``
    func finish(_ end: ReportEnd) throws {
        switch end {
        case .complete(let sentence):
            if state.withLock(\.isEmpty), !sentence.isEmpty { try output.say(sentence) }
        case .more(let parameter, let argument, let because):
            output.note("\(because.map { "\($0) To go on" } ?? "There may be more"): --\(parameter) \(argument)")
        case .nothing(let sentence): throw NegativeResult(sentence)
        }
    }

    private func record(_ row: [ReportValue]) -> Record {
        let fields = zip(report.columns, row).map { (name: $0.name, value: $1) }
        guard let wanted = output.columns else { return Record(fields: fields) }
        return Record(fields: wanted.compactMap { name in fields.first { $0.name == name } })
    }
}
