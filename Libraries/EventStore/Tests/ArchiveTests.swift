import Encoding
import Foundation
import Hashing
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import EventStore

extension PostgresClient {
    func exportedLog() async throws -> (bytes: [UInt8], summary: LogArchive.Summary) {
        let bytes = Mutex<[UInt8]>([])
        let summary = try await LogExport(client: self).write { piece in bytes.withLock { $0 += piece } }
        return (bytes.withLock { $0 }, summary)
    }

    func importLog(
        _ bytes: [UInt8], pieceSize: Int = 1_000, decodedBy domainEvents: [any DomainEvent.Type], sequences: [IDSequence] = []
    ) async throws {
        let rest = Mutex(bytes[...])
        _ = try await LogImport(client: self, pageBytes: 1_000).read(
            from: {
                rest.withLock { rest in
                    defer { rest = rest.dropFirst(pieceSize) }
                    return rest.isEmpty ? nil : Array(rest.prefix(pieceSize))
                }
            }, decodedBy: domainEvents, sequences: sequences)
    }
}

@Suite struct `Archiving the log` {
    private static let sequences = [IDSequence(category: "counter", name: "log.event_ids")]

    /// The log's contents that an import must restore byte by byte.
    private static let contents: SQL = """
        SELECT concat_ws('|', position, id, stream, version, type, format, recorded_at, data::text, metadata::text, personal::text)
        FROM log.recorded_events
        UNION ALL SELECT concat_ws('|', 'command', position, id, request_hash, stream, version, owner) FROM log.commands
        ORDER BY 1
        """

    private static func contents(_ client: PostgresClient) async throws -> [String] {
        try await client.query(contents).decode(String.self)
    }

    private static func `import`(_ bytes: [UInt8], into client: PostgresClient, pieceSize: Int = 1_000) async throws {
        try await client.importLog(bytes, pieceSize: pieceSize, decodedBy: [Counted.self], sequences: sequences)
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
            let (bytes, summary) = try await store.client.exportedLog()
            #expect((summary.recordedEvents, summary.commands) == (10, 2))
            let progress = Mutex<[[Int64]]>([])
            _ = try await LogExport(client: store.client).write { _ in
            } progress: { recorded, all in
                progress.withLock { $0.append([recorded, all]) }
            }
            #expect(progress.withLock { $0 } == [[0, 10], [10, 10]])
            let first = try await store.client.query(Self.contents).decode(String.self)
            _ = try await other.withClient { client in
                try await Self.import(bytes, into: client, pieceSize: 7)
                #expect(try await Self.contents(client) == first)
                #expect(try await client.exportedLog().bytes == bytes)
                let next = try await client.query("SELECT nextval('log.event_ids')").decode(Int64.self)
                #expect(next == [13])
                let error = await #expect(throws: LogArchiveError.self) { try await Self.import(bytes, into: client) }
                #expect(error?.reason.contains("is not empty") == true)
            }
        }
    }

    @Test func `a line of an archive is a CloudEvent, also that of a command in a stream that does not exist`() async throws {
        try await TestStore.withTwo { store, other in
            let id = "00000000-0000-4000-8000-000000000001"
            var append = AppendRequest.counting("1", after: 0, id: UUID(uuidString: id) ?? UUID())
            append.setKey(RequestHash(of: "1".utf8))
            _ = try await store.log.record(append)
            let key = (id: UUID(), requestHash: RequestHash(of: "request".utf8))
            _ = try await store.log.record(.ending(StreamAppend([], to: StreamName("counter-2"), after: 0), key))
            let (bytes, summary) = try await store.client.exportedLog()
            #expect(summary.commands == 2)
            let first = try await Self.contents(store.client)
            try await other.withClient { client in
                try await Self.import(bytes, into: client)
                #expect(try await Self.contents(client) == first)
                var verification = try await LogVerification(of: LogReader(client: client), decodedBy: [Counted.self])
                try await verification.examineTables(client, sequences: [])
                #expect(verification.violations == [])
            }
            var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            for index in lines.indices {
                lines[index].replace(/[0-9a-f]{64}/, with: "…")
                lines[index].replace(/"owner":"[^"]*"/, with: #""owner":"…""#)
            }
            #expect(
                lines == [
                    #"{"specversion":"1.0","id":"\#(id)","source":"/log/\#(id)","type":"Counted","subject":"counter-1","time":"2013-09-16T00:00:00.123000Z","position":1,"streamversion":1,"format":1,"requesthash":"…","owner":"…","datacontenttype":"application/json","data":{"facts":{"number":1},"personal":{},"metadata":{"request_id":"test","actor":7,"trace_id":null}}}"#,
                    #"{"specversion":"1.0","id":"\#(key.id.uuidString.lowercased())","source":"/log/\#(id)","type":"Command","subject":"counter-2","streamversion":0,"requesthash":"…","owner":"…"}"#,
                ])
        }
    }

    /// A change of an archive's lines: its name and the expected error.
    private struct Tampering: Sendable {
        var name: String
        var line: Int64?
        var reason: String
        var change: @Sendable (inout [String]) -> Void

        /// A change of one line, from 1.
        static func line(_ line: Int, _ old: String, _ new: String, _ reason: String) -> Tampering {
            Tampering(name: "\(old) to \(new)", line: Int64(line), reason: reason) { $0[line - 1].replace(old, with: new) }
        }
    }

    // Recorded events 1 to 10. Those at 7 and 8 answer commands.
    private static let tamperings = [
        Tampering(name: "a line dropped", line: 5, reason: "not the number of the line", change: { $0.remove(at: 4) }),
        Tampering(name: "a line twice", line: 4, reason: "stands on a line before", change: { $0.insert($0[2], at: 3) }),
        Tampering(
            name: "an id twice", line: 5, reason: "the id stands on a line before",
            change: { $0[4].replace(/"id":"[^"]*"/, with: #""id":"\#(id($0[3]))""#) }),
        .line(6, #""streamversion":3"#, #""streamversion":2"#, "the version of the stream"),
        .line(6, #""streamversion":3"#, #""streamversion":4"#, "version 4 of counter-12 follows version 2"),
        .line(1, #""streamversion":1"#, #""streamversion":0"#, "23514"),
        .line(1, "counter-1", "cake-1", "no module has streams of category cake"),
        .line(1, "Counted", "Lost", "no stored type"), .line(1, "number", "nummer", "no usable number"),
        .line(1, #""number":1"#, #""number":-99"#, "-99 is no number of this module"),
        .line(1, "request_id", "request", "no usable request_id"), .line(1, "counter-1", #"counter-\u0000"#, "22P05"),
        .line(1, "2013-09-16T00:00:00.123000Z", "now", "23502"),
        .line(1, "2013-09-16T00", "2013-09-16T24", "23502"), .line(1, #""id":""#, #""id":"x"#, "22P02"),
        .line(7, #""requesthash":""#, #""requesthash":"0"#, "22023"),
        .line(1, #"specversion":"1.0"#, #"specversion":"1.1"#, "CloudEvent"),
        .line(1, #"specversion":"1.0"#, #"specversion":"1.0","archiveversion":"2"#, "a later release"),
        .line(3, "/log/", "/log/0", "the source is not that"),
        .line(1, "counter-1", "counter-" + (0..<900).map { _ in "\(UInt64.random(in: 0...UInt64.max))" }.joined(), "54000"),
        .line(
            1, #""id":"#, #""x":"# + String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000) + #","id":"#,
            "54001"),
        Tampering(name: "no object", line: 5, reason: "no JSON object", change: { $0[4] = "tea" }),
        Tampering(name: "the end of a COPY", line: 5, reason: "no JSON object", change: { $0.insert(#"\."#, at: 4) }),
        Tampering(name: "half an object", line: 5, reason: "22P02", change: { $0[4].removeLast() }),
        Tampering(name: "a control character", line: 5, reason: "control character", change: { $0[4] += "\u{1}" }),
        Tampering(
            name: "a long line", line: 5, reason: "longer than 524288 bytes",
            change: { $0[4] += String(repeating: " ", count: 524_288) }),
        Tampering(
            name: "a command unanswered", line: nil, reason: "which is not there",
            change: {
                $0.append(command(like: $0[6], type: "Command").replacing(#""streamversion":1"#, with: #""streamversion":2"#))
            }),
        Tampering(
            name: "a line of a later kind", line: 11, reason: "23514",
            change: { $0.append(command(like: $0[6], type: "Note")) }),
    ]

    /// Each attribute and each part of the data, under another name, null, and another string.
    private static let changedMembers = [
        "specversion", "id", "source", "type", "subject", "time", "position", "streamversion", "format", "data", "facts",
        "metadata", "requesthash", "owner",
    ].flatMap { name in
        ["other", "\(name)\":null,\"other", "\(name)\":\"tea\",\"other"].filter { name != "owner" || !$0.contains("tea") }
            .map { Tampering.line(["requesthash", "owner"].contains(name) ? 7 : 1, "\"\(name)\":", "\"\($0)\":", "") }
    }

    private static func id(_ line: String) -> String { (line.firstMatch(of: /"id":"([^"]*)"/)?.1).map(String.init) ?? "" }

    /// A line that stands for no recorded event.
    private static func command(like line: String, type: String) -> String {
        line.replacing(/"id":"[^"]*"/, with: #""id":"\#(UUID())""#).replacing(/"position":7,/, with: "")
            .replacing(/"type":"[^"]*"/, with: #""type":"\#(type)""#)
    }

    private static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

    @Test func `an archive with a wrong line is refused with the line, and leaves nothing behind`() async throws {
        try await TestStore.withTwo { store, other in
            try await Self.fill(store)
            let original = try await store.client.exportedLog().bytes
            let lines = String(decoding: original, as: UTF8.self).split(separator: "\n").map(String.init)
            try #require(lines.count == 10)
            #expect(Self.bytes(lines) == original)
            _ = try await other.withClient { client in
                for tampering in Self.tamperings + Self.changedMembers {
                    var changed = lines
                    tampering.change(&changed)
                    #expect(changed != lines, "\(tampering.name)")
                    do {
                        try await Self.import(Self.bytes(changed), into: client)
                        Issue.record("\(tampering.name) went in")
                    } catch let error as LogArchiveError {
                        #expect(error.line == tampering.line, "\(tampering.name): \(error)")
                        #expect(
                            tampering.reason.isEmpty || error.reason.contains(tampering.reason), "\(tampering.name): \(error)")
                    }
                    #expect(try await Self.contents(client).isEmpty, "\(tampering.name)")
                }
                let cut = await #expect(throws: LogArchiveError.self) {
                    try await Self.import(Array(original.dropLast()), into: client)
                }
                #expect(cut?.line == 10)
                let reversed = await #expect(throws: LogArchiveError.self) {
                    try await Self.import(Self.bytes(lines.reversed()), into: client)
                }
                #expect(reversed?.line == 1)
                #expect(try await Self.contents(client).isEmpty)
            }
        }
    }

    @Test(.store) func `a file without end that is no log is refused after its first page`() async throws {
        let reads = Mutex(0)
        let endless = { @Sendable () -> [UInt8]? in
            reads.withLock { $0 += 1 }
            return Array(#"{"specversion":"1.0"}"#.utf8) + [UInt8(ascii: "\n")]
        }
        let error = await #expect(throws: LogArchiveError.self) {
            try await store.database.withClient { client in
                _ = try await LogImport(client: client, pageBytes: 1_000).read(
                    from: endless, decodedBy: [Counted.self], sequences: [])
            }
        }
        #expect(error?.line == 1)
        #expect(reads.withLock { $0 } == 46)
    }

    @Test func `a fault of the machine in the middle names no line`() async throws {
        try await TestStore.withTwo { store, other in
            try await Self.fill(store)
            let original = try await store.client.exportedLog().bytes
            try await other.withClient { client in
                let pieces = Mutex<[[UInt8]]>([Array(original.prefix(1_000))])
                let reading = { @Sendable () throws -> [UInt8]? in
                    guard let piece = pieces.withLock({ $0.popLast() }) else { throw ZstandardError.cannotRead(reason: "tea") }
                    return piece
                }
                let unreadable = await #expect(throws: LogArchiveError.self) {
                    _ = try await LogImport(client: client).read(from: reading, decodedBy: [Counted.self], sequences: [])
                }
                #expect(unreadable?.line == nil)
                // The function stands for a disk that is full while the lines go into the log.
                try await client.query(
                    """
                    CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE disk_full; END $$
                    """)
                try await client.query(
                    """
                    CREATE TRIGGER fail BEFORE INSERT ON log.recorded_events FOR EACH ROW WHEN (NEW.position = 5)
                    EXECUTE FUNCTION public.fail()
                    """)
                let error = await #expect(throws: PostgresError.self) { try await Self.import(original, into: client) }
                #expect(error?.sqlState == SQLState(rawValue: "53100"))
                #expect(try await Self.contents(client).isEmpty)
            }
        }
    }
}
