internal import Encoding
internal import EventStore

/// Writes rows as they come, below one heading. A column is as wide as the widest of its first rows.
struct RowWriter {
    private let output: Output
    private let columns: [ReportColumn]
    /// The indices of the columns to write, in the order of the lines.
    private let wanted: [Int]
    private var layout: TableLayout?

    init(output: Output, columns: [ReportColumn]) {
        self.output = output
        self.columns = columns
        let isText = output.format != .json
        wanted =
            output.columns.map { names in names.compactMap { name in columns.firstIndex { $0.name == name } } }
            ?? columns.indices.filter { !isText || columns[$0].rank != .detail }
    }

    /// - Parameter rows: with a field for each column
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    mutating func write(_ rows: [[ReportValue]]) throws {
        guard !rows.isEmpty else { return }
        switch output.format {
        case .json:
            let lines = rows.map { row in output.line(of: wanted.map { (columns[$0].name, row[$0].json) }) }
            try output.write(lines.joined())
        case .text(let isColoured): try output.write(text(of: rows, isColoured: isColoured))
        }
    }

    private mutating func text(of rows: [[ReportValue]], isColoured: Bool) -> String {
        let texts = rows.map { row in row.map { harmless($0.text(in: output.zone)) } }
        var heading = ""
        if layout == nil {
            let headings = columns.map { output.hasHeadings ? $0.name.replacing("_", with: " ") : "" }
            let layout = TableLayout(
                columns, shown: wanted, headings: headings, rows: texts, lineWidth: output.width,
                // The user who names columns wants all of them.
                mayOmit: output.columns == nil)
            self.layout = layout
            if !layout.omitted.isEmpty {
                let names = layout.omitted.map { columns[$0].name }.joined(separator: ",")
                output.note("The terminal is too narrow for these columns: \(names). --columns chooses columns.")
            }
            if output.hasHeadings {
                heading = layout.line(headings) { $1.styled(.bold, isColoured) }
            }
        }
        guard let layout else { preconditionFailure("the layout was made above") }
        let lines = zip(rows, texts).map { row, texts in
            layout.line(texts) { index, text in text.styled(row[index].style, isColoured) }
        }
        return heading + lines.joined()
    }
}
