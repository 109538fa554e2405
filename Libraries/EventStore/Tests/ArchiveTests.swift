import Encoding
import Foundation
import Hashing
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Archiving the log` {
    private static let sequences = [IDSequence(category: "counter", name: "log.event_ids")]
    private static let now = Timestamp(milliseconds: 1_379_289_600_000)

    /// The log's contents that an import must restore byte by byte.
    private static let contents: SQL = """
        SELECT concat_ws('|', position, id, stream, version, type, format, recorded_at, data::text, metadata::text, personal::text,
            personal_digest)
        FROM log.recorded_events
        UNION ALL SELECT concat_ws('|', 'command', id, request_hash, stream, version) FROM log.commands
        ORDER BY 1
        """

    private static func contents(_ client: PostgresClient) async throws -> [String] {
        try await client.query(contents).decode(String.self)
    }

    private static func export(_ client: PostgresClient) async throws -> (bytes: [UInt8], summary: LogArchive.Summary) {
        let bytes = Mutex<[UInt8]>([])
        let summary = try await LogExport(client: client).write(at: now) { piece in bytes.withLock { $0 += piece } }
        return (bytes.withLock { $0 }, summary)
    }

    private static func `import`(_ bytes: [UInt8], into client: PostgresClient, pieceSize: Int = 1_000) async throws {
        let rest = Mutex(bytes[...])
        _ = try await LogImport(client: client).read(
            from: {
                rest.withLock { rest in
                    defer { rest = rest.dropFirst(pieceSize) }
                    return rest.isEmpty ? nil : Array(rest.prefix(pieceSize))
                }
            }, decodedBy: [Counted.self], sequences: sequences)
    }

    /// Counters of several versions, one with an idempotency key, and two events in outdated formats.
    private static func fill(_ store: TestStore) async throws {
        for version: Int32 in 0..<3 {
            for counter in ["1", "12"] { _ = try await store.log.record(.counting(counter, after: version)) }
        }
        for counter in ["7", "8"] {
            var last = AppendRequest.counting(counter, after: 0)
            last.setKey(RequestHash(of: counter.utf8))
            _ = try await store.log.record(last)
        }
        try await store.database.asSuperuser(
            #"""
            INSERT INTO log.recorded_events VALUES
                (9, gen_random_uuid(), 'counter-é"\', 1, 'Counted', 1, '2026-11-21 16:43:36.123456Z',
                    E'{ "number" :\t1  ,\n "\\u0000\\ud83d\\ude00😀": "\\\\N" }', '{"trace_id":null,"request_id":"\\.","actor":1}'),
                (10, gen_random_uuid(), 'counter-\N', 1, 'Counted', 1, '0001-01-01 00:00:00.000001Z', '{"number":2}',
                    '{"request_id":"","actor":null,"trace_id":null}')
            """#
        )
    }

    @Test func `an imported archive restores the log to the byte and the microsecond`() async throws {
        try await TestStore.withTwo { store, other in
            try await Self.fill(store)
            let (bytes, summary) = try await Self.export(store.client)
            #expect((summary.recordedEvents, summary.commands) == (10, 2))
            let progress = Mutex<[[Int64]]>([])
            _ = try await LogExport(client: store.client).write(at: Self.now) { _ in
            } progress: { lines, all in
                progress.withLock { $0.append([lines, all]) }
            }
            #expect(progress.withLock { $0 } == [[0, 12], [12, 12]])
            let first = try await store.client.query(Self.contents).decode(String.self)
            _ = try await other.withClient { client in
                try await Self.import(bytes, into: client, pieceSize: 7)
                #expect(try await Self.contents(client) == first)
                #expect(try await Self.export(client).bytes == bytes)
                let next = try await client.query("SELECT nextval('log.event_ids')").decode(Int64.self)
                #expect(next == [13])
                let error = await #expect(throws: LogArchiveError.self) { try await Self.import(bytes, into: client) }
                #expect(error?.reason.contains("is not empty") == true)
            }
        }
    }

    @Test func `a command that changed nothing in a stream that does not exist survives`() async throws {
        try await TestStore.withTwo { store, other in
            _ = try await store.log.record(.counting("1", after: 0))
            let key = (id: UUID(), requestHash: RequestHash(of: "request".utf8))
            let ending = StreamAppend([], to: StreamName("counter-2"), after: 0)
            _ = try await store.log.record(.ending(ending, key))
            let (bytes, summary) = try await Self.export(store.client)
            #expect(summary.commands == 1)
            let first = try await Self.contents(store.client)
            try await other.withClient { client in
                try await Self.import(bytes, into: client)
                #expect(try await Self.contents(client) == first)
                var verification = try await LogVerification(of: LogReader(client: client), decodedBy: [Counted.self])
                try await verification.examineTables(client, sequences: [])
                #expect(verification.violations == [])
            }
        }
    }

    @Test func `an archive begins and ends with these lines`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.record(
                .counting("1", after: 0, id: UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID()))
            var lines = String(decoding: try await Self.export(store.client).bytes, as: UTF8.self).split(separator: "\n").map(
                String.init)
            lines[0].replace(/"migrations":\[[^\]]*\]/, with: #""migrations":[…]"#)
            #expect(
                lines == [
                    #"{"humon_log":2,"created_at":"2013-09-16T00:00:00.000Z","migrations":[…],"first_position":1,"last_position":1,"recorded_events":1,"commands":0}"#,
                    #"{"position":1,"id":"00000000-0000-4000-8000-000000000001","stream":"counter-1","version":1,"type":"Counted","format":1,"recorded_at":"2013-09-16T00:00:00.123000Z","data":"{\"number\":1}","metadata":"{\"request_id\":\"test\",\"actor\":7,\"trace_id\":null}","personal":null,"personal_sha256":null}"#,
                    lines[2],
                ])
            let footer = /\{"recorded_events":1,"commands":0,"sha256":"[0-9a-f]{64}"\}/
            #expect(lines.last?.wholeMatch(of: footer) != nil)
        }
    }

    @Test func `exporting a log with a gap fails`() async throws {
        try await TestStore.with { store in
            try await Self.fill(store)
            _ = try await store.database.withClient { client in
                try await client.run([
                    "ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change",
                    "DELETE FROM log.recorded_events WHERE position = 4",
                ])
            }
            await #expect(throws: LogGapError(after: 3)) { try await Self.export(store.client) }
        }
    }

    /// A tampered archive: its name and the expected error.
    private struct Tampering: Sendable {
        var name: String
        var line: Int64?
        var reason: String
        var change: @Sendable (inout [String]) -> Void
        /// Whether the tampering also renewed the checksum.
        var isSealed = true
    }

    // Lines, from 0: the header, recorded events 1 to 10, commands 11 and 12, the footer.
    private static let tamperings = [
        Tampering(name: "a byte", line: 14, reason: "checksum", change: { $0[3].replace("test", with: "tset") }, isSealed: false),
        Tampering(name: "no header", line: 1, reason: "no log", change: { $0.removeFirst() }),
        Tampering(
            name: "a later format", line: 1, reason: "reads format 2, not 3",
            change: { $0[0].replace(#"log":2"#, with: #"log":3"#) }),
        Tampering(
            name: "an earlier format", line: 1, reason: "reads format 2, not 1",
            change: { $0[0].replace(#"log":2"#, with: #"log":1"#) }),
        Tampering(
            name: "other counts", line: 14, reason: "the first line says 11", change: { $0[0].replace(":10,", with: ":11,") }),
        Tampering(name: "a line dropped", line: 6, reason: "position 6 stands behind position 4", change: { $0.remove(at: 5) }),
        Tampering(name: "the last dropped", line: 13, reason: "there are 9", change: { $0.remove(at: 10) }),
        Tampering(name: "lines swapped", line: 3, reason: "position 3", change: { $0.swapAt(2, 3) }),
        Tampering(name: "a line twice", line: 4, reason: "position 2", change: { $0.insert($0[2], at: 3) }),
        Tampering(
            name: "an event behind the commands", line: 13, reason: "position 10",
            change: {
                $0.swapAt(10, 12); $0.swapAt(10, 11)
            }),
        Tampering(name: "an id twice", line: 5, reason: "the id stands", change: { $0[4].replace(id($0[4]), with: id($0[3])) }),
        Tampering(
            name: "a version twice", line: 7, reason: "the version",
            change: { $0[6].replace(#""version":3"#, with: #""version":2"#) }),
        Tampering(
            name: "a gap in a stream", line: 7, reason: "version 4 of counter-12 follows version 2",
            change: { $0[6].replace(#""version":3"#, with: #""version":4"#) }),
        Tampering(
            name: "versions in disorder", line: 2, reason: "version 3 of counter-1 stands at position 1, before version 2 at 3",
            change: {
                $0[1].replace(#""version":1"#, with: #""version":3"#); $0[5].replace(#""version":3"#, with: #""version":1"#)
            }),
        Tampering(
            name: "version 0", line: 2, reason: "no usable version",
            change: { $0[1].replace(#""version":1"#, with: #""version":0"#) }),
        Tampering(
            name: "a category that nobody knows", line: 2, reason: "no module has streams of category cake",
            change: { $0[1].replace("counter-1", with: "cake-1") }),
        Tampering(
            name: "a type that nobody knows", line: 2, reason: "no stored type",
            change: { $0[1].replace("Counted", with: "Lost") }),
        Tampering(
            name: "data that nobody reads", line: 2, reason: "no usable number",
            change: { $0[1].replace("number", with: "nummer") }),
        Tampering(
            name: "metadata that nobody reads", line: 2, reason: "no usable request_id",
            change: { $0[1].replace("request_id", with: "request") }),
        Tampering(
            name: "a time that is none", line: 2, reason: "no usable recorded_at",
            change: { $0[1].replace(/"recorded_at":"[^"]*"/, with: #""recorded_at":"now""#) }),
        Tampering(name: "a NUL", line: 2, reason: "22021", change: { $0[1].replace("counter-1", with: #"counter-\u0000"#) }),
        Tampering(name: "no object", line: 5, reason: "no JSON object", change: { $0[4] = "tea" }),
        Tampering(name: "a command dropped", line: 13, reason: "1 commands", change: { $0.remove(at: 11) }),
        Tampering(name: "commands swapped", line: 13, reason: "order of their ids", change: { $0.swapAt(11, 12) }),
        Tampering(
            name: "a command unanswered", line: 13, reason: "which is not there",
            change: { $0[12].replace(/"version":1/, with: #""version":2"#) }),
        Tampering(name: "another footer", line: 14, reason: "the last 9", change: { $0[13].replace(":10,", with: ":9,") }),
        Tampering(name: "no footer", line: 14, reason: "ends before its last line", change: { $0.removeLast() }),
        Tampering(name: "half a file", line: 7, reason: "ends before its last line", change: { $0.removeLast(8) }),
        Tampering(name: "something behind the footer", line: 15, reason: "follows the last line", change: { $0.append("{}") }),
        Tampering(name: "nothing", line: nil, reason: "empty", change: { $0 = [] }),
    ]

    private static func id(_ line: String) -> String { (line.firstMatch(of: /"id":"([^"]*)"/)?.1).map(String.init) ?? "" }

    private static func bytes(_ lines: [String], isSealed: Bool) -> [UInt8] {
        guard isSealed, let end = lines.firstIndex(where: { $0.contains(#""sha256""#) }) else {
            return Array((lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n")).utf8)
        }
        var lines = lines
        let digest = SHA256.hash((lines[..<end].joined(separator: "\n") + "\n").utf8)
        lines[end].replace(/"sha256":"[^"]*"/, with: #""sha256":"\#(digest.hexadecimal)""#)
        return bytes(lines, isSealed: false)
    }

    @Test func `an archive with any changed part is refused with the line, and leaves nothing behind`() async throws {
        try await TestStore.withTwo { store, other in
            try await Self.fill(store)
            let original = try await Self.export(store.client).bytes
            let lines = String(decoding: original, as: UTF8.self).split(separator: "\n").map(String.init)
            try #require(lines.count == 14)
            #expect(Self.bytes(lines, isSealed: true) == original)
            _ = try await other.withClient { client in
                for tampering in Self.tamperings {
                    var changed = lines
                    tampering.change(&changed)
                    let bytes = Self.bytes(changed, isSealed: tampering.isSealed)
                    do {
                        try await Self.import(bytes, into: client)
                        Issue.record("\(tampering.name) went in")
                    } catch let error as LogArchiveError {
                        #expect(error.line == tampering.line, "\(tampering.name): \(error)")
                        #expect(error.reason.contains(tampering.reason), "\(tampering.name): \(error)")
                    }
                    #expect(try await Self.contents(client).isEmpty, "\(tampering.name)")
                }
                // A missing last line feed is a truncation, too.
                await #expect(throws: LogArchiveError.self) {
                    try await Self.import(Array(original.dropLast()), into: client)
                }
                try await Self.import(original, into: client)
            }
        }
    }

    @Test func `an archive with any one byte flipped is refused`() async throws {
        try await TestStore.withTwo { store, other in
            try await Self.fill(store)
            let original = try await Self.export(store.client).bytes
            _ = try await other.withClient { client in
                for offset in stride(from: 0, to: original.count, by: 97) {
                    var bytes = original
                    bytes[offset] ^= 0x01
                    await #expect(throws: LogArchiveError.self, "byte \(offset)") {
                        try await Self.import(bytes, into: client)
                    }
                }
                let contents = try await Self.contents(client)
                #expect(contents.isEmpty)
            }
        }
    }
}
