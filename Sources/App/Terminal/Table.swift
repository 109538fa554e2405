/// What a command found, row by row. A column's name is its heading, and the name of its member in the JSON.
struct Table: Sendable {
    var columns: [Column]
    var rows: [[Field]] = []

    init(_ columns: Column..., rows: [[Field]] = []) {
        self.columns = columns
        self.rows = rows
    }

    mutating func append(_ row: Field...) { rows.append(row) }
}

struct Column: Sendable, ExpressibleByStringLiteral {
    /// In JSON's manner: `recorded_at`.
    var name: String
    /// At least so many characters, where rows that are not known yet are to stand below the first.
    var width: Int
    /// Left out for people, who have only so much room in a line.
    var isForPrograms: Bool

    init(_ name: String, width: Int = 0, isForPrograms: Bool = false) {
        self.name = name
        self.width = width
        self.isForPrograms = isForPrograms
    }

    init(stringLiteral value: String) { self.init(value) }

    var heading: String { name.replacing("_", with: " ") }
}

/// One thing, field by field: a line each for people, one object for programs.
struct Record: Sendable, ExpressibleByDictionaryLiteral {
    var fields: [(name: String, value: Field)]

    init(fields: [(name: String, value: Field)]) { self.fields = fields }
    init(dictionaryLiteral elements: (String, Field)...) { self.init(fields: elements.map { (name: $0.0, value: $0.1) }) }
}
