import Encoding
import Foundation
import Hashing
import Synchronization
import TestChance
import Testing

@testable import EventStore

/// Each input is read or refused with an error: a trap would end the test process.
@Suite struct `Reading faulty metadata and archives` {
    @Test(arguments: [1, 2] as [UInt64]) func `faulty metadata read back unchanged or are refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [
            #"{"request_id":"test","actor":7,"trace_id":"0af7651916cd43dd8448eb211c80319c"}"#,
            #"{"request_id":"","actor":null,"trace_id":null}"#,
        ]
        for _ in 0..<5_000 {
            do {
                let values = try Metadata(stored: mutations.next(of: inputs)).values()
                let metadata = Metadata(requestID: values.requestID, actor: values.actor, traceID: values.traceID)
                try #require(try metadata.values() == values)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }

    @Test(arguments: [3, 4] as [UInt64]) func `faulty stored events read back unchanged or are refused`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for _ in 0..<5_000 {
            let type = mutations.text(of: ["TeaBrewed", "TeaBrewed", "TeaDrunk"])
            let format = Int16(truncatingIfNeeded: mutations.number(Int16.self))
            for (type, format) in [(type, 1), ("TeaBrewed", format), ("TeaBrewed", 2), ("TeaBrewed", 3)] as [(String, Int16)] {
                do {
                    let data = mutations.next(of: [#"{"seconds":200,"sort":"Assam"}"#, #"{"seconds":200}"#])
                    let event = try TeaDomainEvent.decode(StoredEvent(type: type, format: format, facts: data))
                    let current = TeaDomainEvent.writtenFormat(of: type)
                    try #require(
                        try TeaDomainEvent.decode(StoredEvent(type: type, format: current, facts: event.stored.data.utf8))
                            == event)
                } catch is FormatError {
                    // The error is a sentence that names the violation.
                }
            }
        }
    }

    private static let lines = [
        #"{"humon_log":2,"created_at":"2013-09-16T00:00:00.000Z","migrations":["0001_log"],"first_position":1,"last_position":2,"recorded_events":2,"commands":1}"#,
        #"{"position":1,"id":"00000000-0000-4000-8000-000000000001","stream":"counter-1","version":1,"type":"Counted","format":1,"recorded_at":"2013-09-16T00:00:00.123000Z","data":"{\"number\":1}","metadata":"{\"request_id\":\"test\",\"actor\":7,\"trace_id\":null}","personal":null,"personal_sha256":null}"#,
        #"{"position":2,"id":"00000000-0000-4000-8000-000000000002","stream":"counter-1","version":2,"type":"Counted","format":1,"recorded_at":"2013-09-16T00:00:00.123000Z","data":"{\"number\":2}","metadata":"{\"request_id\":\"test\",\"actor\":7,\"trace_id\":null}","personal":null,"personal_sha256":null}"#,
        #"{"command":"00000000-0000-4000-8000-000000000002","request_hash":"0000000000000000000000000000000000000000000000000000000000000000","stream":"counter-1","version":2,"owner":"person-7"}"#,
    ]

    /// Appends a matching footer, so that the checksum does not hide other errors.
    private static func archive(_ lines: [[UInt8]]) -> [UInt8] {
        let body = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
        let digest = SHA256.hash(body).hexadecimal
        return body + Array(#"{"recorded_events":2,"commands":1,"sha256":"\#(digest)"}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// - Returns: the count that the header announces
    private static func read(_ bytes: [UInt8], pieceSize: Int) throws -> LogArchive.Header {
        let rest = Mutex(bytes[...])
        var reader = try LogArchiveReader(decodedBy: [Counted.self]) {
            rest.withLock { rest in
                defer { rest = rest.dropFirst(pieceSize) }
                return rest.isEmpty ? nil : Array(rest.prefix(pieceSize))
            }
        }
        while try reader.nextRecordedEvents() != nil {}
        while try reader.nextCommands() != nil {}
        return reader.header
    }

    @Test(arguments: [5, 6, 7] as [UInt64]) func `a faulty archive is read or refused with the line`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let lines = Self.lines.map { Array($0.utf8) }
        let whole = Self.archive(lines)
        #expect(try Self.read(whole, pieceSize: 100).lastPosition == 2)
        for index in 0..<3_000 {
            var bytes = mutations.next(of: [whole])
            if index % 4 > 0 {
                var changed = lines
                changed[index % lines.count] = mutations.next(of: [lines[index % lines.count]])
                bytes = Self.archive(changed)
            }
            do {
                let header = try Self.read(bytes, pieceSize: 1 + index % 200)
                try #require(header.lastPosition == 2 && header.commands == 1)
            } catch is LogArchiveError {
                // The error is a sentence that names the violation and the line.
            }
        }
    }

    @Test(arguments: ["9007199254740993", "9223372036854775807"])
    func `an archive that announces too many events is refused`(count: String) throws {
        let counted = Self.lines[0].replacing(/(last_position|recorded_events)":2/) { "\($0.1)\":\(count)" }
        for header in [counted, Self.lines[0].replacing(#""commands":1"#, with: #""commands":\#(count)"#)] {
            let bytes = Self.archive(([header] + Self.lines.dropFirst()).map { Array($0.utf8) })
            let error = #expect(throws: LogArchiveError.self) { try Self.read(bytes, pieceSize: 100) }
            #expect(error == LogArchiveError(line: 1, "a count is larger than 9007199254740992"))
        }
    }
}
