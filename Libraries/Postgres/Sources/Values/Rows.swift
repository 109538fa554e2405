/// What a statement answered: its rows, and how many it changed.
public struct Rows: Sendable, RandomAccessCollection {
    fileprivate let result: SharedResult

    init(_ result: consuming PQResult) { self.result = SharedResult(result) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { result.value.rowCount }
    public subscript(index: Int) -> Row { Row(rows: self, index: index) }

    /// How many rows an INSERT, UPDATE or DELETE wrote or a SELECT found.
    public var affected: Int { result.value.affected }

    /// The word that PostgreSQL reports a finished command with.
    var commandTag: String { result.value.commandTag }

    /// All rows, column by column: `rows.decode((Int64, String?).self)`.
    /// - Throws: ``PostgresError/decoding(column:cause:)``
    public func decode<each Column: PostgresDecodable>(_: (repeat each Column).Type) throws(PostgresError) -> [(
        repeat each Column
    )] {
        var decoded: [(repeat each Column)] = []
        decoded.reserveCapacity(count)
        for row in self { decoded.append(try row.decode((repeat each Column).self)) }
        return decoded
    }

    fileprivate var columnCount: Int { result.value.columnCount }

}

public struct Row: Sendable {
    fileprivate let rows: Rows
    fileprivate let index: Int

    /// For readers of very many rows; ``decode(_:)`` is the way for all others.
    @_lifetime(borrow self)
    public func cell(_ column: Int) -> Cell { rows.result.cell(row: index, column: column) }

    /// - Throws: ``PostgresError/decoding(column:cause:)``
    public func decode<each Column: PostgresDecodable>(_: (repeat each Column).Type) throws(PostgresError) -> (repeat each Column)
    {
        var columns = columns
        return (repeat try columns.read((each Column).self))
    }

    public var columns: RowColumns { RowColumns(row: self) }
}

/// The columns of one row from left to right. So a type decodes its rows in one place, whether they come from a query or from COPY.
public protocol ColumnReader: ~Escapable {
    /// - Throws: an error that says why the next column has no value of this type: ``PostgresError/decoding(column:cause:)`` in the
    ///   row of a query, ``CellError`` in a copied row
    mutating func next<Value: PostgresEncodable & PostgresDecodable>(_: Value.Type) throws -> Value
}

extension ColumnReader where Self: ~Escapable {
    /// - Throws: what ``next(_:)`` throws
    @inlinable  // so that it is specialised in the modules: a start-up spends its time here
    public mutating func next<Value: PostgresEncodable & PostgresDecodable>() throws -> Value { try next(Value.self) }
}

/// The columns of a row of a query.
public struct RowColumns: ColumnReader {
    private let row: Row
    private var column = 0

    fileprivate init(row: Row) { self.row = row }

    /// - Throws: ``PostgresError/decoding(column:cause:)``
    public mutating func next<Value: PostgresEncodable & PostgresDecodable>(_: Value.Type) throws(PostgresError) -> Value {
        try read(Value.self)
    }

    fileprivate mutating func read<Value: PostgresDecodable>(_: Value.Type) throws(PostgresError) -> Value {
        defer { column += 1 }
        let count = row.rows.columnCount
        precondition(column < count, "the statement answers \(count) columns, more are read")
        do throws(CellError) { return try Value(row.cell(column)) } catch { throw .decoding(column: column, cause: error) }
    }
}
