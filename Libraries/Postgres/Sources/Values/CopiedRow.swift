internal import Synchronization

/// A row of a binary COPY, read from left to right.
/// Source: PostgreSQL's documentation of COPY, *Binary Format*.
public struct CopiedRow: ColumnReader {
    fileprivate var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    /// The next column.
    /// - Throws: ``CellError``, as where a column of a query's rows is read
    @inlinable  // so that it is specialised in the modules: a start-up spends its time here
    public mutating func next<Value: PostgresEncodable & PostgresDecodable>(
        _: Value.Type
    ) throws(CellError) -> Value {
        try Value(nextCell(of: Value.postgresType))
    }

    /// - Parameter type: which the data itself does not tell
    @usableFromInline
    mutating func nextCell(of type: UInt32) throws(CellError) -> Cell {
        let length = Int(try take(Int32.self))
        guard length >= 0 else { return Cell(type: type, bytes: nil) }
        guard length <= rest.count else { throw .length }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[length...]) }
        return Cell(type: type, bytes: UnsafeRawBufferPointer(rebasing: rest[..<length]))
    }

    fileprivate mutating func take<Value: FixedWidthInteger>(_: Value.Type) throws(CellError) -> Value {
        let size = MemoryLayout<Value>.size
        guard size <= rest.count else { throw .length }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[size...]) }
        return Value(bigEndian: rest.loadUnaligned(as: Value.self))
    }

    fileprivate mutating func skipHeader() {
        guard rest.starts(with: EncodedRows.header.prefix(11)), rest.count >= EncodedRows.header.count else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[EncodedRows.header.count...])
    }
}

/// Some rows of a binary COPY as they came, to be read wherever a core is free.
public struct CopiedRows: Sendable {
    private var bytes: [UInt8] = []
    /// Where each row ends.
    private var ends: [Int] = []

    public var count: Int { ends.count }

    fileprivate mutating func append(_ row: CopiedRow) {
        bytes.append(contentsOf: row.rest)
        ends.append(bytes.count)
    }

    /// Gives the rows in turn, which are valid until the end of `body` only.
    /// - Throws: the error of the body
    public func forEach(_ body: (inout CopiedRow) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { bytes in
            var start = 0
            for end in ends {
                var row = CopiedRow(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                try body(&row)
                start = end
            }
        }
    }
}

extension LeasedConnection {
    /// Reads all rows of a table by binary COPY and hands them over in batches of `count` rows. The closure runs on the connection's
    /// own thread, for the last batch too, so it may block; PostgreSQL waits meanwhile.
    /// - Parameter percent: reads about this part of the table, in blocks that PostgreSQL chooses at random; `nil` reads all
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func copyRows(
        of table: String, in schema: String, columns: [String], percent: Double? = nil, atOnce count: Int,
        _ body: @escaping @Sendable (CopiedRows) throws -> Void
    ) async throws {
        let gathered = Mutex(CopiedRows())
        try await copyEachRow(of: table, in: schema, columns: columns, percent: percent) { row in
            let full = gathered.withLock { gathered -> CopiedRows? in
                if let row { gathered.append(row) }
                guard gathered.count == count || row == nil && gathered.count > 0 else { return nil }
                defer { gathered = CopiedRows() }
                return gathered
            }
            if let full { try body(full) }
        }
    }

    /// - Parameter body: is called on the connection's own thread, with the columns in the order in which they are asked for; and
    ///   with `nil` at the end
    private func copyEachRow(
        of table: String, in schema: String, columns: [String], percent: Double?,
        _ body: @escaping @Sendable (CopiedRow?) throws -> Void
    ) async throws {
        let list = columns.map(quoted).joined(separator: ", ")
        let name = "\(quoted(schema)).\(quoted(table))"
        let source = percent.map { "(SELECT \(list) FROM \(name) TABLESAMPLE SYSTEM (\($0)))" } ?? "\(name) (\(list))"
        try await copyOut("COPY \(source) TO STDOUT WITH (FORMAT binary)") { bytes in
            var row = CopiedRow(bytes)
            // It comes with the first row.
            row.skipHeader()
            // -1 stands at the end.
            try body(try row.take(Int16.self) == Int16(columns.count) ? row : nil)
        }
    }
}
