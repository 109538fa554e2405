internal import Encoding
internal import Synchronization

/// Prints rows as they come, for people below one heading. The first rows decide: a column is as wide as the widest of their values, and
/// aligned to the right if they are numbers. Longer rows wrap at the end of the terminal.
final class Table: Sendable {
    private static let gap = "  "
    /// The widest column: one long value must not push all rows aside.
    private static let greatestWidth = 60

    private let output: Output
    private let omitted: Set<String>
    private let leastWidths: [String: Int]
    private struct Column: Sendable {
        let name: String
        let width: Int
        let isNumeric: Bool
    }

    /// Empty before the first row.
    private let columns = Mutex<[Column]>([])

    /// - Parameters:
    ///   - omitted: the names of members that people do not see
    ///   - leastWidths: the least width of a column, by its name, if later rows may be wider than the first ones
    init(_ output: Output, omitting omitted: Set<String> = [], leastWidths: [String: Int] = [:]) {
        (self.output, self.omitted, self.leastWidths) = (output, omitted, leastWidths)
    }

    /// - Parameter rows: all with the same members
    /// - Throws: ``OutputClosed``, ``CommandFailure``
    func write(_ rows: [JSONObject]) throws {
        guard let first = rows.first else { return }
        guard output.format == .text else { return try output.write(output.lines(of: rows)) }
        try columns.withLock { columns in
            var text = ""
            if columns.isEmpty {
                columns = first.members.map(\.name).filter { !omitted.contains($0) }.map { name in
                    let values = rows.map { $0.value(of: name) }
                    let width = min(values.map { $0.readable(as: name).count }.max() ?? 0, Self.greatestWidth)
                    return Column(
                        name: name, width: max(name.count, leastWidths[name] ?? 0, width),
                        isNumeric: values.contains { $0.isNumber } && values.allSatisfy { $0.isNumber || $0 == .null })
                }
                text = Self.line(columns.map { ($0, harmless($0.name.replacing("_", with: " "))) })
            }
            for row in rows {
                text += Self.line(columns.map { ($0, row.value(of: $0.name).readable(as: $0.name)) })
            }
            try output.write(text)
        }
    }

    /// One line, without spaces at its end.
    private static func line(_ cells: [(column: Column, text: String)]) -> String {
        var (line, pending) = ("", "")
        for (column, text) in cells {
            let padding = String(repeating: " ", count: max(0, column.width - text.count))
            if text.isEmpty {
                pending += padding + gap
            } else {
                line += pending + (column.isNumeric ? padding : "") + text
                pending = (column.isNumeric ? "" : padding) + gap
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
