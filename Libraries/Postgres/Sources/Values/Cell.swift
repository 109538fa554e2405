internal import Encoding

/// A value that can be read from a column.
public protocol PostgresDecodable {
    /// - Throws: ``CellError``, if the column holds NULL, another type, or a value out of range
    init(_ cell: Cell) throws(CellError)
}

/// One column of one row. It cannot outlive its row.
public struct Cell: ~Escapable {
    let type: UInt32
    /// nil is SQL's NULL.
    let bytes: RawSpan?

    @_lifetime(copy bytes)
    init(type: UInt32, bytes: RawSpan?) {
        self.type = type
        self.bytes = bytes
    }

    /// Whether the column holds NULL.
    public var isNull: Bool { if bytes == nil { true } else { false } }

    /// The bytes of a value that must be of one of these types.
    @_lifetime(copy self)
    func bytes(of types: UInt32...) throws(CellError) -> RawSpan {
        guard let bytes else { throw .null }
        guard types.contains(type) else { throw .type(type) }
        return bytes
    }

    /// The bytes of a text or a JSON column, unchanged.
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public func utf8() throws(CellError) -> [UInt8] {
        [UInt8](try bytes(of: TypeNumber.text, TypeNumber.varchar, TypeNumber.name, TypeNumber.json))
    }

    func integer<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type, of types: UInt32...) throws(CellError) -> Value {
        guard let bytes else { throw .null }
        guard types.contains(type) else { throw .type(type) }
        guard bytes.byteCount == MemoryLayout<Value>.size else { throw .length }
        return Value(bigEndian: bytes.load())
    }
}

public enum CellError: Error, Hashable {
    case null
    /// The `oid` of the column's type.
    case type(UInt32)
    /// The value has another number of bytes than its type, or the row ends before it.
    case length
    /// A moment outside the years 0000 to 9999, such as `infinity`.
    case moment
}

extension CellError: CustomStringConvertible {
    /// Follows the name of the column.
    public var description: String {
        switch self {
        case .null: "is NULL where a value is read"
        case .type(let oid): "has type \(oid), which is not the type it is read as"
        case .length: "has fewer or more bytes than a value of its type"
        case .moment: "is a time outside the years 0000 to 9999"
        }
    }
}

enum TypeNumber {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let float8: UInt32 = 701
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let uuid: UInt32 = 2950
}
