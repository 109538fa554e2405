internal import Synchronization

/// Where the values of a Swift type stand in a table: for writing many rows at once, by INSERT, UPDATE or COPY.
public struct RowLayout<Row: Sendable>: Sendable {
    public struct Column: Sendable {
        public let name: String
        /// Binds the values of all rows as one array.
        @usableFromInline let bind: @Sendable ([Row], inout SQL.StringInterpolation) -> Void
        /// Writes one value behind its length, as binary COPY has it.
        @usableFromInline let copy: @Sendable (Row, inout [UInt8]) -> Void

        // So that it is specialised in the modules: a rebuild spends its time here.
        @inlinable
        public init<Value: PostgresEncodable>(_ name: String, _ value: @escaping @Sendable (Row) -> Value) {
            self.name = name
            bind = { rows, sql in sql.appendInterpolation(rows.map(value)) }
            copy = { row, bytes in value(row).encodeBehindLength(into: &bytes) }
        }
    }

    let table: String
    let columns: [Column]

    public init(table: String, _ columns: [Column]) {
        self.table = table
        self.columns = columns
    }

    /// The same table without a column, which an update then leaves as it is.
    public func without(_ name: String) -> RowLayout {
        precondition(columns.contains { $0.name == name }, "\(table) has no column \(name)")
        return RowLayout(table: table, columns.filter { $0.name != name })
    }

    /// The names of the columns, for a query.
    public var names: SQL { SQL(unsafeText: list()) }

    public func insertion(of rows: [Row], in schema: String) -> Insertion {
        Insertion(
            makeStatement: { sql("INSERT INTO ", in: schema, " (\(list()))\nSELECT ", binding: rows) },
            encode: {
                var bytes: [UInt8] = []
                for row in rows {
                    bytes.append(bigEndian: Int16(columns.count))
                    for column in columns { column.copy(row, &bytes) }
                }
                return EncodedRows(
                    copyCommand: "COPY \(quoted(schema)).\(quoted(table)) (\(list())) FROM STDIN WITH (FORMAT binary)",
                    tuples: bytes)
            }
        )
    }

    /// Sets all other columns of the rows that have these values in the columns of the key.
    public func update(_ rows: [Row], by key: String..., in schema: String) -> SQL {
        let sets = columns.filter { !key.contains($0.name) }.map { "\(quoted($0.name)) = n.\(quoted($0.name))" }
        let matches = key.map { "t.\(quoted($0)) = n.\(quoted($0))" }
        return sql(
            "UPDATE ", in: schema, " AS t SET \(sets.joined(separator: ", "))\nFROM (SELECT ", binding: rows,
            ") AS n (\(list())) WHERE \(matches.joined(separator: " AND "))"
        )
    }

    private func list() -> String { columns.map { quoted($0.name) }.joined(separator: ", ") }

    private func sql(_ verb: String, in schema: String, _ head: String, binding rows: [Row], _ tail: String = "") -> SQL {
        var text = SQL.StringInterpolation(literalCapacity: 256, interpolationCount: columns.count)
        text.appendLiteral(verb)
        text.appendLiteral("\(quoted(schema)).\(quoted(table))")
        text.appendLiteral(head)
        for (index, column) in columns.enumerated() {
            if index > 0 { text.appendLiteral(", ") }
            // In the list of columns: in FROM, PostgreSQL copies every array to a tuplestore first.
            text.appendLiteral("unnest(")
            column.bind(rows, &text)
            text.appendLiteral(")")
        }
        text.appendLiteral(tail)
        return SQL(stringInterpolation: text)
    }
}

/// New rows of one table: a statement among others, or the data of a COPY where there are very many.
public struct Insertion: Sendable {
    fileprivate let makeStatement: @Sendable () -> SQL
    fileprivate let encode: @Sendable () -> EncodedRows

    public var statement: SQL { makeStatement() }

    /// Turned into bytes, which is most of the work; to be done wherever a core is free.
    public var encoded: EncodedRows { encode() }
}

/// Rows as the bytes of a binary COPY. Source: PostgreSQL's documentation of COPY, *Binary Format*.
public struct EncodedRows: Sendable {
    static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
    static let trailer: [UInt8] = [0xFF, 0xFF]

    let copyCommand: String
    let tuples: [UInt8]
}

extension LeasedConnection {
    /// Writes rows by COPY, one for each table.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func copy(_ batches: [EncodedRows]) async throws {
        for (command, batches) in Dictionary(grouping: batches, by: \.copyCommand).sorted(by: { $0.key < $1.key }) {
            // The connection's thread takes the pieces one by one.
            let rest = Mutex(([EncodedRows.header] + batches.map(\.tuples) + [EncodedRows.trailer])[...])
            try await copyIn(command) { rest.withLock { $0.popFirst() } }
        }
    }
}
