/// The result of a command, row by row. A column's name is its heading, and the name of its member in the JSON.
struct Table: Sendable {
    var columns: [Column]
    var rows: [[Field]] = []

    init(_ columns: Column..., rows: [[Field]] = []) { self.init(columns: columns, rows: rows) }

    init(columns: [Column], rows: [[Field]] = []) {
        self.columns = columns
        self.rows = rows
    }

    mutating func append(_ row: Field...) { rows.append(row) }
}

struct Column: Sendable, ExpressibleByStringLiteral {
    /// As in JSON: `recorded_at`.
    var name: String
    /// The minimum width, so that later rows are aligned with the first rows.
    var width: Int
    /// Whether people see the column only if they ask for it with `--columns`.
    var isForPrograms: Bool
    /// Whether a narrow terminal leaves the column out before other columns.
    var yields: Bool

    init(_ name: String, width: Int = 0, isForPrograms: Bool = false, yields: Bool = false) {
        (self.name, self.width, self.isForPrograms, self.yields) = (name, width, isForPrograms, yields)
    }

    init(stringLiteral value: String) { self.init(value) }

    var heading: String { name.replacing("_", with: " ") }
}

/// One thing, field by field: one line for each field for people, one object for programs.
struct Record: Sendable, ExpressibleByDictionaryLiteral {
    var fields: [(name: String, value: Field)]

    init(fields: [(name: String, value: Field)]) { self.fields = fields }
    init(dictionaryLiteral elements: (String, Field)...) { self.init(fields: elements.map { (name: $0.0, value: $0.1) }) }
}
