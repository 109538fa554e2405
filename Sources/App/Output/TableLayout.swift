internal import EventStore

/// The columns that a table shows to people, and their widths.
struct TableLayout: Sendable {
    private static let gap = 2
    /// Narrower text says too little.
    private static let narrowestText = 12

    /// The indices of the shown columns, in the order of the lines.
    private(set) var shown: [Int]
    /// The indices of the columns that the terminal has no room for.
    private(set) var omitted: [Int] = []
    private var widths: [Int]
    private let kinds: [ReportColumn.Kind]
    private let lineWidth: Int?

    /// - Parameters:
    ///   - shown: the indices of the wanted columns
    ///   - headings: the headings of all columns; empty texts if no headings are shown
    ///   - rows: the first rows, with the texts of all columns
    ///   - lineWidth: the width of the terminal; `nil`: lines may have any length
    ///   - mayOmit: whether columns may be left out; otherwise long lines go on in the next line of the terminal
    init(
        _ columns: [ReportColumn], shown: [Int], headings: [String], rows: [[String]], lineWidth: Int?,
        mayOmit: Bool
    ) {
        self.shown = shown
        self.lineWidth = lineWidth
        kinds = columns.map(\.kind)
        widths = columns.indices.map { index in
            rows.reduce(max(columns[index].length, headings[index].displayWidth)) { max($0, $1[index].displayWidth) }
        }
        guard let lineWidth else { return }
        let narrowest = columns.indices.map { index in
            columns[index].kind.isCuttable
                ? min(widths[index], max(Self.narrowestText, headings[index].displayWidth)) : widths[index]
        }
        while mayOmit, self.shown.count > 1, length(narrowest) > lineWidth {
            let position = self.shown.lastIndex { columns[$0].rank == .side } ?? self.shown.count - 1
            omitted.append(self.shown.remove(at: position))
        }
        omitted.sort()
        for index in self.shown where kinds[index].isCuttable { widths[index] = min(widths[index], lineWidth) }
        while length(widths) > lineWidth,
            let widest = self.shown.filter({ widths[$0] > narrowest[$0] }).max(by: { widths[$0] < widths[$1] })
        {
            widths[widest] -= 1
        }
    }

    private func length(_ widths: [Int]) -> Int {
        shown.reduce(0) { $0 + widths[$1] } + Self.gap * max(0, shown.count - 1)
    }

    /// One line, with two spaces between columns and none at the end.
    /// - Parameters:
    ///   - texts: of all columns
    ///   - style: gives a text its colour
    func line(_ texts: [String], style: (Int, String) -> String) -> String {
        var line = ""
        var used = 0
        // Spaces that only count if a text follows them.
        var gap = 0
        for (position, index) in shown.enumerated() {
            var text = texts[index]
            if kinds[index].isCuttable, let lineWidth {
                // The last column has the rest of the line. Other columns may be wider than planned while the last one keeps its width.
                let isLast = position == shown.count - 1
                let others = isLast ? 0 : shown[(position + 1)...].reduce(0) { $0 + widths[$1] + Self.gap }
                text = text.cut(toWidth: max(isLast ? 1 : widths[index], lineWidth - used - gap - others))
            }
            let width = text.displayWidth
            let padding = max(0, widths[index] - width)
            guard !text.isEmpty else {
                gap += widths[index] + Self.gap
                continue
            }
            let spaces = gap + (kinds[index].isNumeric ? padding : 0)
            line += String(repeating: " ", count: spaces) + style(index, text)
            used += spaces + width
            gap = (kinds[index].isNumeric ? 0 : padding) + Self.gap
        }
        return line + "\n"
    }
}
