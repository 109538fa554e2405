public import Encoding
public import Foundation

extension Bool: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.bool }
    public static var postgresArrayType: UInt32 { 1000 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) { self = try cell.integer(UInt8.self, of: TypeNumber.bool) != 0 }
}

extension Int16: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.int2 }
    public static var postgresArrayType: UInt32 { 1005 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) { self = try cell.integer(Int16.self, of: TypeNumber.int2) }
}

extension Int32: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.int4 }
    public static var postgresArrayType: UInt32 { 1007 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) { self = try cell.integer(Int32.self, of: TypeNumber.int4) }
}

extension Int64: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.int8 }
    public static var postgresArrayType: UInt32 { 1016 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) { self = try cell.integer(Int64.self, of: TypeNumber.int8) }
}

extension Double: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.float8 }
    public static var postgresArrayType: UInt32 { 1022 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: bitPattern) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) {
        self.init(bitPattern: try cell.integer(UInt64.self, of: TypeNumber.float8))
    }
}

extension String: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.text }
    public static var postgresArrayType: UInt32 { 1009 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) {
        self.init(utf8: try cell.bytes(of: TypeNumber.text, TypeNumber.varchar, TypeNumber.name, TypeNumber.json))
    }
}

extension UUID: PostgresEncodable, PostgresDecodable {
    public static var postgresType: UInt32 { TypeNumber.uuid }
    public static var postgresArrayType: UInt32 { 2951 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(self) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) {
        let bytes = try cell.bytes(of: TypeNumber.uuid)
        guard bytes.byteCount == MemoryLayout<uuid_t>.size else { throw .length }
        self.init(bytes: bytes)
    }
}

extension Timestamp: PostgresEncodable, PostgresDecodable {
    /// 2000-01-01T00:00:00Z, from which PostgreSQL counts microseconds.
    private static let postgresEpochMilliseconds: Int64 = 946_684_800_000

    public static var postgresType: UInt32 { TypeNumber.timestamptz }
    public static var postgresArrayType: UInt32 { 1185 }
    public func encode(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: (milliseconds - Self.postgresEpochMilliseconds) * 1_000)
    }
    /// - Throws: ``CellError``, if the column holds NULL, another type, or a time outside the years 0000 to 9999
    public init(_ cell: Cell) throws(CellError) {
        let microseconds = try cell.integer(Int64.self, of: TypeNumber.timestamptz)
        // Cut, not rounded towards the year 2000.
        let milliseconds = microseconds / 1_000 - (microseconds % 1_000 < 0 ? 1 : 0)
        self.init(milliseconds: milliseconds + Self.postgresEpochMilliseconds)
        guard self >= .earliest, self <= .latest else { throw .moment }
    }
}

/// Bytes as such, PostgreSQL's `bytea`.
public struct Bytea: Sendable, Hashable, PostgresEncodable, PostgresDecodable {
    public var bytes: [UInt8]
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    public static var postgresType: UInt32 { TypeNumber.bytea }
    public static var postgresArrayType: UInt32 { 1001 }
    public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self.bytes) }
    /// - Throws: ``CellError``, if the column holds NULL or another type
    public init(_ cell: Cell) throws(CellError) { self.init(bytes: [UInt8](try cell.bytes(of: TypeNumber.bytea))) }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    public static var postgresType: UInt32 { Wrapped.postgresType }
    public static var postgresArrayType: UInt32 { Wrapped.postgresArrayType }
    public var isNull: Bool { self?.isNull ?? true }
    public func encode(into bytes: inout [UInt8]) { self?.encode(into: &bytes) }
    /// Looks one function up for a value. The default would look four up.
    public func encodeBehindLength(into bytes: inout [UInt8]) {
        if let self { self.encodeBehindLength(into: &bytes) } else { bytes.append(bigEndian: Int32(-1)) }
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// - Throws: ``CellError``, if the column holds neither NULL nor a value of the wrapped type
    public init(_ cell: Cell) throws(CellError) { self = cell.bytes == nil ? nil : try Wrapped(cell) }
}

/// One-dimensional arrays.
extension Array: PostgresEncodable where Element: PostgresEncodable {
    public static var postgresType: UInt32 { Element.postgresArrayType }
    /// PostgreSQL has no arrays of arrays.
    public static var postgresArrayType: UInt32 { 0 }

    public func encode(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: Int32(isEmpty ? 0 : 1))
        // Whether there are NULLs: PostgreSQL wants a 0 or a 1 here, and looks for itself (`array_recv`).
        bytes.append(bigEndian: Int32(1))
        bytes.append(bigEndian: Element.postgresType)
        guard !isEmpty else { return }
        bytes.append(bigEndian: Int32(count))
        bytes.append(bigEndian: Int32(1))
        Element.encode(elements: self, into: &bytes)
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) { append(bytesOf: value.bigEndian) }
}
