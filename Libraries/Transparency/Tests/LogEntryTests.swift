import Foundation
import Hashing
import Testing

@testable import Transparency

@Suite struct `The leaf of a recorded event` {
    private static let line = """
        {"position":1042,"id":"3f0c0000-0000-4000-8000-0000000000ab","stream":"user-1","version":3,"type":"UserCreated","format":2,\
        "recorded_at":"2026-11-25T00:18:02.000123Z",\
        "metadata_sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",\
        "data_sha256":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",\
        "personal_sha256":"2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"}
        """

    private static func entry() throws -> LogEntry {
        LogEntry(
            position: 1_042, id: try #require(UUID(uuidString: "3F0C0000-0000-4000-8000-0000000000AB")), stream: "user-1",
            version: 3,
            type: "UserCreated", format: 2, recordedAt: 1_795_565_882_000_123, metadata: SHA256.hash("a".utf8),
            data: SHA256.hash("b".utf8), personal: SHA256.hash("c".utf8))
    }

    @Test func `an entry is written as these bytes and read from them`() throws {
        let entry = try Self.entry()
        #expect(String(decoding: entry.bytes, as: UTF8.self) == Self.line)
        #expect(LogEntry(Array(Self.line.utf8)) == entry)
        #expect(entry.index == 1_041)
    }

    @Test func `an event without personal members has null in place of their digest`() throws {
        var entry = try Self.entry()
        entry.personal = nil
        #expect(String(decoding: entry.bytes, as: UTF8.self).hasSuffix(#""personal_sha256":null}"#))
        #expect(LogEntry(entry.bytes) == entry)
    }

    @Test(arguments: [0, -1, 999_999, 253_402_300_799_999_999, -62_167_219_200_000_000, 1_000_001] as [Int64])
    func `a time is read as it was written`(microseconds: Int64) throws {
        var entry = try Self.entry()
        entry.recordedAt = microseconds
        #expect(LogEntry(entry.bytes)?.recordedAt == microseconds)
    }

    @Test(arguments: [Int64.min, .max])
    func `a time that RFC 3339 lacks is written as the nearest one`(microseconds: Int64) throws {
        var entry = try Self.entry()
        entry.recordedAt = microseconds
        #expect(
            String(decoding: entry.bytes, as: UTF8.self).contains(
                microseconds < 0 ? "0000-01-01T00:00:00" : "9999-12-31T23:59:59"))
    }

    @Test func `texts with quotes are escaped`() throws {
        var entry = try Self.entry()
        entry.stream = "a\"\n-1"
        #expect(String(decoding: entry.bytes, as: UTF8.self).contains(#""stream":"a\"\n-1""#))
        #expect(LogEntry(entry.bytes) == entry)
    }

    @Test(arguments: [
        ("{", "{ "), ("\"id\":\"3f", "\"id\":\"3F"), (":1042,", ":01042,"), (":2,", ":2.0,"), ("000123Z", "000123+00:00"),
        ("000123Z", "123Z"),
        ("ca97", "CA97"), (",\"format\":2", ""), ("\"2e7d", "\"2e7"), ("}", ",\"more\":1}"), ("\"user-1\"", "null"),
    ])
    func `a line that is written in another way is no entry`(part: String, other: String) {
        let changed = Self.line.replacing(part, with: other)
        #expect(changed != Self.line)
        #expect(LogEntry(Array(changed.utf8)) == nil)
    }
}
