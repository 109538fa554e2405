internal import CLibPQ

/// What a statement answered: its rows, and how many it changed.
public struct Rows: Sendable, RandomAccessCollection {
    private let result: Result

    /// Takes over the result and frees it in the end.
    init(_ pointer: OpaquePointer) { result = Result(pointer: pointer) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { Int(PQntuples(result.pointer)) }
    public subscript(index: Int) -> Row { Row(rows: self, index: index) }

    /// How many rows an INSERT, UPDATE or DELETE wrote or a SELECT found.
    public var affected: Int { Int(String(cString: PQcmdTuples(result.pointer))) ?? 0 }

    /// The word that PostgreSQL reports a finished command with.
    var commandTag: String { String(cString: PQcmdStatus(result.pointer)) }

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

    fileprivate func cell(row: Int, column: Int) -> Cell {
        let (row, column) = (Int32(row), Int32(column))
        let isNull = PQgetisnull(result.pointer, row, column) == 1
        let length = Int(PQgetlength(result.pointer, row, column))
        return Cell(
            type: PQftype(result.pointer, column),
            bytes: isNull ? nil : UnsafeRawBufferPointer(start: PQgetvalue(result.pointer, row, column), count: length)
        )
    }

    fileprivate var columnCount: Int { Int(PQnfields(result.pointer)) }

    /// `@unchecked`: libpq never changes a result once it has handed it out, and any thread may read it.
    private final class Result: @unchecked Sendable {
        let pointer: OpaquePointer
        init(pointer: OpaquePointer) { self.pointer = pointer }
        deinit { PQclear(pointer) }
    }
}

public struct Row: Sendable {
    fileprivate let rows: Rows
    fileprivate let index: Int

    /// For readers of very many rows; ``decode(_:)`` is the way for all others.
    public func cell(_ column: Int) -> Cell { rows.cell(row: index, column: column) }

    /// - Throws: ``PostgresError/decoding(column:cause:)``
    public func decode<each Column: PostgresDecodable>(_: (repeat each Column).Type) throws(PostgresError) -> (repeat each Column)
    {
        var column = 0
        func next<Value: PostgresDecodable>(_: Value.Type) throws(PostgresError) -> Value {
            defer { column += 1 }
            precondition(column < rows.columnCount, "the statement answers \(rows.columnCount) columns, more are read")
            do throws(CellError) { return try Value(rows.cell(row: index, column: column)) } catch {
                throw .decoding(column: column, cause: error)
            }
        }
        return (repeat try next((each Column).self))
    }
}
