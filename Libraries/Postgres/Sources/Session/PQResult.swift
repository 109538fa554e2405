internal import CLibPQ

/// libpq's result of a statement.
///
/// `@safe`: the pointer is valid until `deinit`, which no copy survives, because there is none; libpq checks rows and columns.
/// `@unchecked`: libpq never changes a result once it has handed it out, and any thread may read it.
@safe struct PQResult: ~Copyable, @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    /// Takes over the result.
    @unsafe init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe PQclear(pointer) }

    var status: ExecStatusType { unsafe PQresultStatus(pointer) }
    var rowCount: Int { Int(unsafe PQntuples(pointer)) }
    var columnCount: Int { Int(unsafe PQnfields(pointer)) }

    /// How many rows an INSERT, UPDATE or DELETE wrote or a SELECT found.
    var affected: Int { Int(unsafe String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The word that PostgreSQL reports a finished command with.
    var commandTag: String { unsafe String(cString: PQcmdStatus(pointer)) }

    /// - Parameter code: the letter of the field in PostgreSQL's protocol
    func errorField(_ code: Unicode.Scalar) -> String? {
        unsafe PQresultErrorField(pointer, Int32(code.value)).map { unsafe String(cString: $0) }
    }
}

/// A result that several rows keep.
final class SharedResult: Sendable {
    let value: PQResult

    init(_ value: consuming PQResult) { self.value = value }

    @_lifetime(borrow self)
    func cell(row: Int, column: Int) -> Cell {
        let (row, column) = (Int32(row), Int32(column))
        let pointer = unsafe value.pointer
        let type = unsafe PQftype(pointer, column)
        guard unsafe PQgetisnull(pointer, row, column) == 0, let start = unsafe PQgetvalue(pointer, row, column) else {
            return Cell(type: type, bytes: nil)
        }
        let bytes = unsafe RawSpan(_unsafeStart: start, byteCount: Int(PQgetlength(pointer, row, column)))
        return unsafe _overrideLifetime(Cell(type: type, bytes: bytes), borrowing: self)
    }
}
