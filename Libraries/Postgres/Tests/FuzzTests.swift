import Encoding
import Foundation
import TestChance
import Testing

@testable import Postgres

/// Each input is read or refused with an error: a trap would end the test process.
@Suite struct `Decoding faulty binary values` {
    private static let count = 20_000

    /// Expects that a decoded value keeps its bytes when it is encoded, decoded and encoded again.
    private static func read<Value: PostgresDecodable & PostgresEncodable>(
        _: Value.Type, _ bytes: [UInt8], as type: UInt32 = Value.postgresType
    ) throws {
        guard let written = Self.rewritten(Value.self, bytes, as: type) else { return }
        try #require(Self.rewritten(Value.self, written, as: Value.postgresType) == written)
    }

    /// nil if the bytes are refused: of another length or type, or out of range.
    private static func rewritten<Value: PostgresDecodable & PostgresEncodable>(
        _: Value.Type, _ bytes: [UInt8], as type: UInt32
    ) -> [UInt8]? {
        bytes.withRawSpan { raw in
            do throws(CellError) {
                var written: [UInt8] = []
                try Value(Cell(type: type, bytes: raw)).encode(into: &written)
                return written
            } catch {
                return nil
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64]) func `binary values of any length and type are decoded or refused`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let types = [
            TypeNumber.int2, TypeNumber.int4, TypeNumber.int8, TypeNumber.float8, TypeNumber.text, TypeNumber.timestamptz,
            TypeNumber.uuid, TypeNumber.bool, TypeNumber.bytea, 0,
        ]
        for _ in 0..<Self.count {
            let bytes = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            let type = types[Int.random(in: 0..<types.count, using: &generator)]
            try Self.read(Bool.self, bytes, as: type)
            try Self.read(Int16.self, bytes, as: type)
            try Self.read(Int32.self, bytes, as: type)
            try Self.read(Int64.self, bytes, as: type)
            try Self.read(Double.self, bytes, as: type)
            try Self.read(String.self, bytes, as: type)
            try Self.read(UUID.self, bytes, as: type)
            try Self.read(Timestamp.self, bytes, as: type)
            try Self.read(Bytea.self, bytes, as: type)
        }
    }

    @Test func `binary times within the years 0000 to 9999 are decoded, and others refused`() throws {
        var mutations = Mutations(seed: 3)
        for _ in 0..<Self.count {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: mutations.number(Int64.self))
            try Self.read(Timestamp.self, bytes)
        }
        for microseconds in [Int64.min, .min + 1, .max, .max - 1] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: microseconds)
            _ = bytes.withRawSpan { raw in
                #expect(throws: CellError.moment) { try Timestamp(Cell(type: TypeNumber.timestamptz, bytes: raw)) }
            }
        }
    }

    @Test(arguments: [4, 5] as [UInt64]) func `a faulty COPY row is decoded or refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        var row: [UInt8] = []
        Int64(12).encodeBehindLength(into: &row)
        "Picnic".encodeBehindLength(into: &row)
        String?.none.encodeBehindLength(into: &row)
        37.76.encodeBehindLength(into: &row)
        Timestamp(milliseconds: 1_379_289_600_000).encodeBehindLength(into: &row)
        for _ in 0..<Self.count {
            let bytes = mutations.next(of: [row])
            bytes.withRawSpan { raw in
                var row = CopiedRow(raw)
                do throws(CellError) {
                    _ = (try row.next(Int64.self), try row.next(String.self), try row.next(String?.self))
                    _ = (try row.next(Double.self), try row.next(Timestamp.self))
                } catch {
                    // Refused as expected.
                }
            }
        }
    }
}
