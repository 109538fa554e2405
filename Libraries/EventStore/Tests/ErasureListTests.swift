import Encoding
import Foundation
import Postgres
import TestDatabase
import TestFixture
import Testing

@testable import EventStore

extension TestStore {
    fileprivate func append(_ event: PersonEvent, to person: String, after version: Int32, id: UUID = UUID()) async throws {
        let model = AppendRequest.counting("", after: 0)
        _ = try await log.record(
            AppendRequest(
                id: id, streams: [StreamAppend([event], to: StreamName(person), after: version)],
                recordedAt: model.recordedAt, metadata: model.metadata))
    }

    /// Runs the list of a node with this file until the body has ended.
    fileprivate func mirroring(
        _ file: ErasureFile, _ body: @escaping @Sendable (ErasureList) async throws -> Void
    ) async throws {
        let list = ErasureList(file, composition(), notifier)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await list.run() }
            defer { group.cancelAll() }
            try await body(list)
        }
    }

    /// Runs the list until the file has all erasures of the log.
    fileprivate func mirror(_ file: ErasureFile) async throws {
        let tail = try await reader.tail()
        try await mirroring(file) { list in try await eventually("the mirror") { list.hasMirrored(tail) } }
    }

    fileprivate func isErased(_ person: String) async throws -> Bool {
        try await client.query("SELECT log.is_erased(\(person))").decode(Bool.self) == [true]
    }
}

@Suite(.path) struct `Keeping erasures outside of the database` {
    /// No subscription runs, which keeps no server from answering if the log lacked nothing.
    @Test(.store)
    func `a new file gets every erasure of the log, and a node that died goes on behind its last line`() async throws {
        let file = ErasureFile(path: path)
        _ = try await store.erasePerson()
        try await store.mirror(file)
        // The node is dead between this commit and its line.
        _ = try await store.erasePerson(StreamName("person-8"))
        for _ in 1...2 { try await store.mirror(file) }
        let entries = try await file.all().entries
        #expect(entries.map(\.person.description) == ["person-7", "person-8"])
        let first = try #require(entries.first)
        let log = try await store.reader.read(after: 0, limit: 2)
        #expect([first.log, first.created] == [log[0].envelope.id, log[0].envelope.id])
        #expect(first.erased == log[1].envelope.id)
        #expect(first.cursor == LogCursor(position: 2, of: log[1].envelope))
    }

    @Test(.store) func `a line that was cut is written again behind the last whole one`() async throws {
        let file = ErasureFile(path: path)
        for number in 7...9 { _ = try await store.erasePerson(StreamName("person-\(number)")) }
        try await store.mirror(file)
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        try String(whole.dropLast(40)).write(toFile: path, atomically: true, encoding: .utf8)
        try await store.mirror(file)
        #expect(try await file.persons() == ["person-7", "person-8", "person-9"])
        #expect(try await file.all().unreadable == 1)
    }

    @Test(.store)
    func `a file that cannot be written delays no erasure, which is said to be done when it has a line`() async throws {
        let file = ErasureFile(path: path)
        try await store.write(0..<1)
        try await store.mirroring(file) { list in
            try await eventually { list.isApplied }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let position = try await store.erasePerson()
            let erasures = PersonErasures(store.composition(list))
            try await store.withErasures {
                try await eventually("the end of the words") { try await store.words() == 0 }
                let end = try await erasures.end(of: TestStore.erased, at: position, within: .milliseconds(300))
                #expect(end == nil)
                #expect(list.isApplied)
                try FileManager.default.removeItem(atPath: path)
                let later = try await erasures.end(of: TestStore.erased, at: position, within: .seconds(60))
                #expect(later != nil)
            }
            #expect(try await file.persons() == ["person-7"])
        }
    }

    @Test func `a restored log erases the persons of the file, and nobody else who has the number of one`() async throws {
        try await TestStore.withTwo { store, other in
            let file = ErasureFile(path: path)
            try await store.write(0..<2)
            for person in ["person-7", "person-8"] { try await store.append(.created, to: person, after: 0) }
            let backup = try await store.client.exportedLog().bytes
            try await store.append(.erased, to: "person-7", after: 1)
            try await store.mirror(file)
            let line = try #require(try await file.all().entries.first)
            // Person 8 of another history, of another log, and person 8 who signed up again with the same token later: same id, later time.
            let eighth = try #require(try await store.reader.read(stream: StreamName("person-8")).first?.envelope)
            var others = [line, line, line]
            for index in others.indices { (others[index].person, others[index].erased) = (eighth.stream, UUID()) }
            others[1].created = eighth.id
            others[1].log = UUID()
            others[2].created = eighth.id
            others[2].at = Timestamp(milliseconds: eighth.recordedAt.milliseconds - 1)
            try await file.add(others + [line])

            try await other.withClient { client in
                try await client.importLog(backup, decodedBy: [PersonEvent.self, NoteEvent.self, Counted.self])
            }
            try await TestStore.with(other) { restored in
                #expect(try await restored.words() == 2)
                try await restored.mirroring(file) { list in
                    try await eventually { try await restored.isErased("person-7") }
                    #expect(try await restored.reader.newest(of: TestStore.erased)?.envelope.id == line.erased)
                    // Nobody erases the words yet.
                    try await Task.sleep(for: .milliseconds(300))
                    #expect(!list.isApplied)
                    #expect(try await restored.words() == 2)
                    try await restored.withErasures { try await eventually { list.isApplied } }
                    #expect(try await restored.words() == 0)
                    let tail = try await restored.reader.tail()
                    try await eventually { list.hasMirrored(tail) }
                }
                #expect(try await PersonErasures(restored.composition()).erasure(line.erased)?.end != nil)
                #expect(try await !restored.isErased("person-8"))
                #expect(try await file.all().entries.count == 5)
            }
        }
    }

    @Test(.store) func `when the log loses its end, each running node answers only when its erasures are back`() async throws {
        let (file, second) = (ErasureFile(path: path), ErasureFile(path: path + "-b"))
        try await store.write(0..<1)
        let position = try await store.erasePerson()
        try await store.mirroring(file) { list in
            try await store.mirroring(second) { other in
                try await store.withErasures {
                    try await eventually { list.hasMirrored(position) && other.hasMirrored(position) }
                    try await eventually { try await store.words() == 0 }
                }
                let erased = try await store.reader.newest(of: TestStore.erased)?.envelope.id
                try await store.database.loseEndOfLog(
                    after: position - 1, script: "UPDATE log.subscriptions SET position = \(position - 1);")
                // PostgreSQL gives the position again, by which the process learns of the loss.
                _ = try await store.log.record(.counting("after", after: 0))
                try await eventually { try await store.isErased("person-7") }
                try await Task.sleep(for: .milliseconds(300))
                #expect(!list.isApplied && !other.isApplied)
                try await store.withErasures { try await eventually { list.isApplied && other.isApplied } }
                #expect(try await store.reader.newest(of: TestStore.erased)?.envelope.id == erased)
            }
        }
        for file in [file, second] {
            try await store.mirror(file)
            #expect(try await file.persons() == ["person-7"])
        }
    }

    @Test(.store)
    func `a log that begins under a running node, such as a restored one, gets the erasures of the file`() async throws {
        let (file, id) = (ErasureFile(path: path), UUID())
        try await file.add([.init(log: id, person: TestStore.erased, created: id, erased: UUID(), at: Dependencies.system.now())])
        try await store.mirroring(file) { list in
            try await eventually { list.isApplied }
            try await store.append(.created, to: "person-7", after: 0, id: id)
            try await eventually { try await store.isErased("person-7") }
        }
    }

    /// Such as another history's, one beyond the log's end, and the place that a line of an earlier program lacks.
    @Test(.store, arguments: [LogCursor(position: 4, mark: 1), LogCursor(position: 9, mark: 1), nil])
    func `the mirror begins at the first position if the log has another event at that of the last line`(
        place: LogCursor?
    ) async throws {
        let file = ErasureFile(path: path)
        for number in 7...8 { _ = try await store.erasePerson(StreamName("person-\(number)")) }
        try await store.mirror(file)
        var last = try #require(try await file.all().entries.last)
        for (cursor, persons) in [(last.cursor, ["person-8"]), (place, ["person-8", "person-7"])] {
            last.cursor = cursor
            try last.line.write(toFile: path, atomically: true, encoding: .utf8)
            try await store.mirror(file)
            #expect(try await file.persons() == persons)
        }
    }

    @Test(.store) func `a file to which another program wrote is applied again before the next line`() async throws {
        let file = ErasureFile(path: path)
        try await store.append(.created, to: "person-8", after: 0)
        let id = try #require(try await store.reader.read(position: 1)?.envelope.id)
        try await store.mirroring(file) { list in
            try await eventually { list.hasMirrored(1) }
            try await file.add([
                .init(
                    log: id, person: StreamName("person-8"), created: id, erased: UUID(),
                    at: Dependencies.system.now())
            ])
            let position = try await store.erasePerson()
            try await store.withErasures { try await eventually { list.hasMirrored(position) } }
        }
        #expect(try await store.isErased("person-8"))
        #expect(try await file.persons() == ["person-8", "person-7"])
    }

    @Test func `an erasure of a trial reaches production through a common file, and not through files of their own`() async throws
    {
        try await TestStore.withTwo { store, other in
            let (file, common) = (ErasureFile(path: path), ErasureFile(path: path + "-trial"))
            try await store.append(.created, to: "person-8", after: 0)
            let backup = try await store.client.exportedLog().bytes
            try await other.withClient { try await $0.importLog(backup, decodedBy: [PersonEvent.self, Counted.self]) }
            try await TestStore.with(other) { trial in
                try await trial.append(.erased, to: "person-8", after: 1)
                try await trial.mirror(common)
            }
            try await store.mirror(file)
            #expect(try await !store.isErased("person-8"))
            try await store.mirroring(common) { _ in try await eventually { try await store.isErased("person-8") } }
        }
    }
}
