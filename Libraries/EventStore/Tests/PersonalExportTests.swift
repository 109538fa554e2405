import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `Exporting what is stored of a person` {
    /// The notes are the persons here, and counters belong to each.
    private static func export(_ store: TestStore, of person: String, pageLimit: Int) async throws -> [String] {
        let counters = PersonalStreams(of: NoteEvent.category) { _, _ in
            ["0-x", "1-x"].map { PersonalStream(StreamName(category: Counted.category, key: $0), endsWith: NoteEvent.erased) }
        }
        var export = PersonalExport(of: [], from: store.client)
        (export.parts, export.pageLimit) = ([counters], pageLimit)
        var lines: [String] = []
        try await export.write(try await export.streams(of: StreamName(person)), at: Timestamp(milliseconds: 0)) { page in
            #expect(page.count <= pageLimit + 2)
            lines += page
        }
        return lines
    }

    @Test func `an export has each recorded event on a line whatever the pages are, and an unknown person has none`() async throws
    {
        _ = try await store.log.record(.noting("7", after: 0, .written("Dear Ann")))
        try await store.count(5, counters: 2)
        var keyed = AppendRequest.noting("7", after: 1, .read)
        keyed.setKey(RequestHash(of: "request".utf8), owner: StreamName("note-7"))
        _ = try await store.log.record(keyed)
        try await store.database.asSuperuser(
            """
            INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
            VALUES ('letters', 'counter-1-x', 1, 3, 'full'), ('letters', 'counter-9-x', 1, 4, 'of another one')
            """)
        let lines = try await Self.export(store, of: "note-7", pageLimit: 500)
        for pageLimit in 1...3 { #expect(try await Self.export(store, of: "note-7", pageLimit: pageLimit) == lines) }
        #expect(lines.filter { $0.hasPrefix(#"{"position":"#) }.count == 7)
        let document = try JSON(utf8: lines.joined(separator: "\n").utf8)
        #expect(document["note"] == JSON(7))
        #expect(document["exported_at"] == "1970-01-01T00:00:00.000Z")
        guard case .array(let events)? = document["recorded_events"] else { throw FormatError("no events") }
        #expect(events.count == 7)
        #expect(events.first?["data"] == ["pages": JSON(3), "text": "Dear Ann"])
        let streams = events.compactMap { $0["stream"]?.storedString }
        #expect(streams == ["note-7", "note-7", "counter-0-x", "counter-0-x", "counter-0-x", "counter-1-x", "counter-1-x"])
        guard case .array(let keys)? = document["idempotency_keys"] else { throw FormatError("no keys") }
        #expect(keys.map { $0["stream"]?.storedString } == ["note-7"])
        guard case .array(let parked)? = document["parked_streams"] else { throw FormatError("no parked streams") }
        #expect(parked.map { $0["reason"]?.storedString } == ["full"])
        for person in ["note-8", "note-x"] {
            await #expect(throws: UnknownPersonError.self) { _ = try await Self.export(store, of: person, pageLimit: 2) }
        }
    }
}
