internal import Encoding
internal import Foundation

/// Where a command prints what it found: aligned for people, or one JSON object a line. What is not an answer (progress, how to
/// go on) goes to standard error.
struct Output: Sendable {
    enum Format: Sendable, Hashable {
        case json
        case text(isColoured: Bool)
    }

    let format: Format
    let zone: TimeZone
    /// Takes whole lines.
    let write: @Sendable (String) throws -> Void

    /// All rows. Where there are none, people read the sentence instead.
    func write(_ table: Table, whenEmpty sentence: String? = nil) throws {
        if table.rows.isEmpty, let sentence { return try say(sentence) }
        var rows = rows(table.columns)
        try rows.write(table.rows)
    }

    /// A table whose rows come one by one.
    func rows(_ columns: [Column]) -> RowWriter { RowWriter(output: self, columns: columns) }

    func write(_ record: Record) throws { try write([record]) }

    /// For people with an empty line between two.
    func write(_ records: [Record]) throws {
        let texts = records.map { record in
            switch format {
            case .json: line(of: record.fields.map { ($0.name, $0.value.json) })
            case .text(let isColoured): lines(of: record, isColoured: isColoured)
            }
        }
        try write(texts.joined(separator: format == .json ? "" : "\n"))
    }

    /// A sentence for people, which programs find in the objects.
    func say(_ sentence: String) throws {
        switch format {
        case .json: break
        case .text: try write(harmless(sentence) + "\n")
        }
    }

    /// What belongs to no answer: how to get the next page, say.
    func note(_ sentence: String) { FileHandle.standardError.write(Data((harmless(sentence) + "\n").utf8)) }

    /// What is being done just now, for whoever sits there and waits.
    func step(_ sentence: String) {
        if isatty(STDERR_FILENO) == 1 { note(sentence) }
    }

    fileprivate func line(of members: [(String, JSON)]) -> String {
        let object = JSONObject(members: members.map { JSONObject.Member(name: $0.0, value: $0.1) })
        return harmless(JSON.object(object).text) + "\n"
    }

    /// The members of objects among the fields stand on lines of their own, as `data.name`.
    private func lines(of record: Record, isColoured: Bool) -> String {
        let fields = record.fields.flatMap { name, value -> [(name: String, value: Field)] in
            guard case .json(.object(let object)) = value, !object.members.isEmpty else { return [(name, value)] }
            return object.members.map { (name: "\(name).\($0.name)", value: .json($0.value)) }
        }
        let names = fields.map { harmless($0.name.replacing("_", with: " ")) }
        let width = names.map(\.count).max() ?? 0
        return zip(names, fields).map { name, field in
            let value = harmless(field.value.text(in: zone))
            let padding = String(repeating: " ", count: value.isEmpty ? 0 : width - name.count + 2)
            return name.styled(.bold, isColoured) + padding + value.styled(field.value.style, isColoured) + "\n"
        }.joined()
    }
}

/// Writes rows as they come, below one heading. A column is as wide as the widest of its first rows.
struct RowWriter {
    private let output: Output
    private let columns: [Column]
    private var widths: [Int]?

    fileprivate init(output: Output, columns: [Column]) {
        self.output = output
        self.columns = columns
    }

    mutating func write(_ rows: [[Field]]) throws {
        guard !rows.isEmpty else { return }
        switch output.format {
        case .json:
            let lines = rows.map { row in output.line(of: zip(columns, row).map { ($0.name, $1.json) }) }
            try output.write(lines.joined())
        case .text(let isColoured):
            let shown = columns.indices.filter { !columns[$0].isForPrograms }
            let rows = rows.map { row in shown.map { row[$0] } }
            try output.write(text(of: rows, below: shown.map { columns[$0] }, isColoured: isColoured))
        }
    }

    private mutating func text(of rows: [[Field]], below columns: [Column], isColoured: Bool) -> String {
        let cells = rows.map { row in row.map { harmless($0.text(in: output.zone)) } }
        var heading = ""
        let widths =
            self.widths
            ?? columns.indices.map { column in
                cells.reduce(max(columns[column].width, columns[column].heading.count)) { max($0, $1[column].count) }
            }
        if self.widths == nil {
            self.widths = widths
            let parts = columns.indices.map { column in
                let isNumeric = rows.contains { $0[column].isNumeric }
                return (columns[column].heading, isNumeric, Style.bold as Style?)
            }
            heading = line(of: parts, widths, isColoured: isColoured)
        }
        let lines = zip(rows, cells).map { row, cells in
            line(of: zip(row, cells).map { ($1, $0.isNumeric, $0.style) }, widths, isColoured: isColoured)
        }
        return heading + lines.joined()
    }

    /// Two spaces between columns and none at the end.
    private func line(of parts: [(text: String, isRight: Bool, style: Style?)], _ widths: [Int], isColoured: Bool) -> String {
        var line = ""
        // Spaces that only count when something follows them.
        var gap = 0
        for (part, width) in zip(parts, widths) {
            let padding = max(0, width - part.text.count)
            if part.text.isEmpty {
                gap += width + 2
                continue
            }
            line += String(repeating: " ", count: gap + (part.isRight ? padding : 0)) + part.text.styled(part.style, isColoured)
            gap = (part.isRight ? 0 : padding) + 2
        }
        return line + "\n"
    }
}

/// Source: ECMA-48, *Select Graphic Rendition*.
private enum Style: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
}

extension Field {
    fileprivate var style: Style? {
        switch self {
        case .state(.good, _): .green
        case .state(.doubtful, _): .yellow
        case .state(.bad, _): .red
        case .none, .text, .flag, .number, .count, .bytes, .rate, .seconds, .time, .json: nil
        }
    }
}

extension String {
    fileprivate func styled(_ style: Style?, _ isColoured: Bool) -> String {
        guard isColoured, let style else { return self }
        return "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m"
    }
}
