internal import Encoding
internal import Synchronization

/// Prints rows as they come, for people below one heading. A column is as wide as the widest of its first rows, and longer rows
/// wrap at the end of the terminal. Numbers are aligned to the right.
final class Table: Sendable {
    private static let gap = "  "

    private let output: Output
    private let omitted: Set<String>
    private let leastWidths: [String: Int]
    /// The names and the widths of the columns; empty before the first row.
    private let columns = Mutex<[(name: String, width: Int)]>([])

    /// - Parameters:
    ///   - omitted: the names of members that people do not see
    ///   - leastWidths: the least width of a column, by its name, if later rows may be wider than the first ones
    init(_ output: Output, omitting omitted: Set<String> = [], leastWidths: [String: Int] = [:]) {
        (self.output, self.omitted, self.leastWidths) = (output, omitted, leastWidths)
    }

    /// - Parameter rows: all with the same members
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func write(_ rows: [JSONObject]) throws {
        guard let first = rows.first else { return }
        guard case .text(let isColoured) = output.format else { return try output.write(output.lines(of: rows)) }
        try columns.withLock { columns in
            var text = ""
            if columns.isEmpty {
                let names = first.members.map(\.name).filter { !omitted.contains($0) }
                columns = names.map { name in
                    let widths = rows.map { $0.value(of: name).readable(as: name).count }
                    return (name, max(name.count, leastWidths[name] ?? 0, widths.max() ?? 0))
                }
                text = Self.line(
                    columns.map { name, width in
                        let isNumeric = rows.contains { $0.value(of: name).isNumber }
                        return (harmless(name.replacing("_", with: " ")), width, isNumeric, .bold)
                    }, isColoured)
            }
            for row in rows {
                text += Self.line(
                    columns.map { name, width in
                        let value = row.value(of: name)
                        return (value.readable(as: name), width, value.isNumber, value.style(of: name))
                    }, isColoured)
            }
            try output.write(text)
        }
    }

    /// One line, without spaces at its end.
    private static func line(
        _ cells: [(text: String, width: Int, isNumber: Bool, style: Style?)], _ isColoured: Bool
    ) -> String {
        var (line, pending) = ("", "")
        for cell in cells {
            let padding = String(repeating: " ", count: max(0, cell.width - cell.text.count))
            if cell.text.isEmpty {
                pending += padding + gap
            } else {
                line += pending + (cell.isNumber ? padding : "") + cell.text.styled(cell.style, isColoured)
                pending = (cell.isNumber ? "" : padding) + gap
            }
        }
        return line + "\n"
    }
}

extension JSONObject {
    fileprivate func value(of name: String) -> JSON { self[name] ?? .null }
}

extension JSON {
    fileprivate var isNumber: Bool { if case .number = self { true } else { false } }
}
