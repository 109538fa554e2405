internal import Encoding
internal import EventStore
internal import Foundation

/// Prints the result of a command: aligned lines for people, or one JSON object per line for programs. Progress and advice are no
/// result; they go to standard error.
struct Output: Sendable {
    enum Format: Sendable, Hashable {
        case json
        case text(isColoured: Bool)
    }

    let format: Format
    let zone: TimeZone
    /// The width of the terminal, which tables must fit; `nil`: lines may have any length.
    var width: Int?
    /// The names of the columns that the user wants; `nil`: the columns that the table shows without a wish.
    var columns: [String]?
    var hasHeadings = true
    /// Takes whole lines.
    let write: @Sendable (String) throws -> Void

    /// Prints all rows, or for people the message if there are none.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func write<Row>(_ rows: [Row], _ columns: [RowColumn<Row>], whenEmpty message: String? = nil) throws {
        if rows.isEmpty, let message { return try say(message) }
        var writer = RowWriter(output: self, columns: columns.map(\.column))
        try writer.write(rows.map { row in columns.map { $0.value(row) } })
    }

    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func write(_ record: Record) throws { try write([record]) }

    /// Prints an empty line between two records for people.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func write(_ records: [Record]) throws {
        let texts = records.map { record in
            switch format {
            case .json: line(of: record.fields.map { ($0.name, $0.value.json) })
            case .text(let isColoured): lines(of: record, isColoured: isColoured)
            }
        }
        try write(texts.joined(separator: format == .json ? "" : "\n"))
    }

    /// Prints a sentence for people. Programs find the same in the objects.
    /// - Throws: ``OutputClosed``, ``OutputFailed``
    func say(_ sentence: String) throws {
        switch format {
        case .json: break
        case .text: try write(harmless(sentence) + "\n")
        }
    }

    /// Prints advice, such as the option for the next page, to standard error.
    func note(_ sentence: String) { FileHandle.standardError.write(Data((harmless(sentence) + "\n").utf8)) }

    /// Prints the present step of a long task for a person at the terminal.
    func step(_ sentence: String) {
        if isatty(STDERR_FILENO) == 1 { note(sentence) }
    }

    func line(of members: [(String, JSON)]) -> String {
        let object = JSONObject(members: members.map { JSONObject.Member(name: $0.0, value: $0.1) })
        return harmless(JSON.object(object).text) + "\n"
    }

    /// The members of an object are printed on lines of their own, as `data.name`.
    private func lines(of record: Record, isColoured: Bool) -> String {
        let fields = record.fields.flatMap { name, value -> [(name: String, value: ReportValue)] in
            guard case .json(.object(let object)) = value, !object.members.isEmpty else { return [(name, value)] }
            return object.members.map { (name: "\(name).\($0.name)", value: .json($0.value)) }
        }
        let names = fields.map { harmless($0.name.replacing("_", with: " ")) }
        let width = names.map(\.displayWidth).max() ?? 0
        return zip(names, fields).map { name, field in
            let value = harmless(field.value.text(in: zone))
            let padding = String(repeating: " ", count: value.isEmpty ? 0 : width - name.displayWidth + 2)
            return name.styled(.bold, isColoured) + padding + value.styled(field.value.style, isColoured) + "\n"
        }.joined()
    }
}

/// One thing, field by field: one line for each field for people, one object for programs.
struct Record: Sendable, ExpressibleByDictionaryLiteral {
    var fields: [(name: String, value: ReportValue)]

    init(fields: [(name: String, value: ReportValue)]) { self.fields = fields }
    init(dictionaryLiteral elements: (String, ReportValue)...) { self.init(fields: elements.map { (name: $0.0, value: $0.1) }) }
}
