internal import Encoding
internal import Synchronization

/// A row of a binary COPY, read from left to right.
/// Source: PostgreSQL's documentation of COPY, *Binary Format*.
public struct CopiedRow: ColumnReader, ~Escapable {
    fileprivate var rest: RawSpan

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { rest = bytes }

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
    @_lifetime(copy self)
    mutating func nextCell(of type: UInt32) throws(CellError) -> Cell {
        let length = Int(try take(Int32.self))
        guard length >= 0 else { return Cell(type: type, bytes: nil) }
        guard length <= rest.byteCount else { throw .length }
        let bytes = rest.extracting(first: length)
        rest = rest.extracting(droppingFirst: length)
        return Cell(type: type, bytes: bytes)
    }

    fileprivate mutating func take<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type) throws(CellError) -> Value {
        let size = MemoryLayout<Value>.size
        guard size <= rest.byteCount else { throw .length }
        let value = Value(bigEndian: rest.load())
        rest = rest.extracting(droppingFirst: size)
        return value
    }

    fileprivate mutating func skipHeader() {
        let header = EncodedRows.header
        guard rest.byteCount >= header.count, (0..<11).allSatisfy({ rest.load(UInt8.self, at: $0) == header[$0] }) else { return }
        rest = rest.extracting(droppingFirst: header.count)
    }
}

/// Some rows of a binary COPY as they came, to be read wherever a core is free.
public struct CopiedRows: Sendable {
    private var bytes: [UInt8] = []
    /// Where each row ends.
    private var ends: [Int] = []

    public var count: Int { ends.count }

    fileprivate mutating func append(_ row: CopiedRow) {
        bytes.append(row.rest)
        ends.append(bytes.count)
    }

    /// Gives the rows in turn, which are valid until the end of `body` only.
    /// - Throws: the error of the body
    public func forEach(_ body: (inout CopiedRow) throws -> Void) rethrows {
        var start = 0
        for end in ends {
            try bytes.withRawSpan(of: start..<end) { bytes in
                var row = CopiedRow(bytes)
                try body(&row)
            }
            start = end
        }
    }
}

extension LeasedConnection {
    /// Reads all rows of a table by binary COPY and hands them over in batches of `count` rows. The closure runs on the connection's
    /// own thread, for the last batch too, so it may block; PostgreSQL waits meanwhile.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func copyRows(
        of table: String, in schema: String, columns: [String], atOnce count: Int,
        _ body: @escaping @Sendable (CopiedRows) throws -> Void
    ) async throws {
        let gathered = Mutex(CopiedRows())
        let list = columns.map(quoted).joined(separator: ", ")
        try await copyOut("COPY \(quoted(schema)).\(quoted(table)) (\(list)) TO STDOUT WITH (FORMAT binary)") { bytes in
            var row = CopiedRow(bytes)
            // It comes with the first row.
            row.skipHeader()
            // -1 stands at the end.
            let isRow = try row.take(Int16.self) == Int16(columns.count)
            let full = gathered.withLock { gathered -> CopiedRows? in
                if isRow { gathered.append(row) }
                guard gathered.count == count || !isRow && gathered.count > 0 else { return nil }
                defer { gathered = CopiedRows() }
                return gathered
            }
            if let full { try body(full) }
        }
    }
}
