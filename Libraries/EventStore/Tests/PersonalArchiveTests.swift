import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Archiving personal members` {
    private static let contents: SQL = """
        SELECT concat_ws('|', position, id, stream, version, type, format, recorded_at, data::text, metadata::text,
            coalesce(personal::text, '-'))
        FROM log.recorded_events ORDER BY position
        """

    private static func `import`(_ bytes: [UInt8], into client: PostgresClient) async throws {
        try await client.importLog(bytes, decodedBy: [NoteEvent.self, Counted.self])
    }

    private static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

    /// The lines of an archive of two notes, the second of them erased.
    private static func lines(_ store: TestStore) async throws -> [String] {
        for note in ["1", "2"] { _ = try await store.log.record(.noting(note, after: 0, .written("Dear Ann"))) }
        _ = try await store.log.record(.noting("2", after: 1, .erased))
        try await store.withErasures { try await store.reaches(3, "erasures") }
        let text = String(decoding: try await store.client.exportedLog().bytes, as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `an archive restores erased and present personal members to the byte`() async throws {
        try await TestStore.withTwo { store, other in
            let lines = try await Self.lines(store)
            let personal = [#"{"text":"Dear Ann"}"#, "null", "{}"]
            #expect(zip(lines, personal).allSatisfy { $0.contains(#""personal":\#($1),"#) })
            let first = try await store.client.query(Self.contents).decode(String.self)
            try await other.withClient { client in
                try await Self.import(Self.bytes(lines), into: client)
                #expect(try await client.query(Self.contents).decode(String.self) == first)
            }
        }
    }

    @Test func `an archive with changed personal members is refused with the line`() async throws {
        try await TestStore.withTwo { store, other in
            let lines = try await Self.lines(store)
            let changes: [(line: Int64, reason: String, change: @Sendable (inout [String]) -> Void)] = [
                (
                    1, "are missing, and no erasure ended them",
                    { $0[0].replace(/"personal":\{[^}]*\}/, with: #""personal":null"#) }
                ),
                (1, "are missing, and no erasure ended them", { $0[0].replace(#""personal":"#, with: #""persona":"#) }),
                (
                    1, "personal members stand among the facts",
                    { $0[0].replace(/"facts":\{[^}]*\}/, with: #""facts":{"pages":3,"text":"Dear Eve"}"#) }
                ),
                (1, "no personal members", { $0[0].replace(/"personal":\{[^}]*\}/, with: #""personal":{}"#) }),
            ]
            try await other.withClient { client in
                for (line, reason, change) in changes {
                    var changed = lines
                    change(&changed)
                    #expect(changed != lines, "\(reason)")
                    let error = await #expect(throws: LogArchiveError.self, "\(reason)") {
                        try await Self.import(Self.bytes(changed), into: client)
                    }
                    #expect(error?.line == line && error?.reason.contains(reason) == true, "\(String(describing: error))")
                }
                let imported = try await client.query("SELECT FROM log.recorded_events")
                #expect(imported.isEmpty)
            }
        }
    }
}
