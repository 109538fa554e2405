/// A value that can be bound to a statement, in PostgreSQL's binary format.
/// Source: the `…send` and `…recv` functions of PostgreSQL's `src/backend/utils/adt`; type numbers from `pg_type.dat`.
public protocol PostgresEncodable: Sendable {
    static var postgresType: UInt32 { get }
    static var postgresArrayType: UInt32 { get }
    var isNull: Bool { get }
    func encode(into bytes: inout [UInt8])
    /// Behind its length, which is -1 for NULL. Has a default; a requirement, like the next, so that the compiler makes one for
    /// each type, where one for all would look everything up for every value.
    func encodeBehindLength(into bytes: inout [UInt8])
    /// All elements of an array, each behind its length. Has a default.
    static func encode(elements: [Self], into bytes: inout [UInt8])
}

extension PostgresEncodable {
    public var isNull: Bool { false }

    public func encodeBehindLength(into bytes: inout [UInt8]) {
        let lengthOffset = bytes.count
        bytes.append(bigEndian: Int32(-1))
        guard !isNull else { return }
        encode(into: &bytes)
        let length = UInt32(bytes.count - lengthOffset - 4)
        for index in 0..<4 { bytes[lengthOffset + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index))) }
    }

    public static func encode(elements: [Self], into bytes: inout [UInt8]) {
        for element in elements { element.encodeBehindLength(into: &bytes) }
    }
}
