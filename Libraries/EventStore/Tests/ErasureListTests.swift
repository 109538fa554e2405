import Encoding
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// A directory with an empty list, which is removed with the test.
private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "humon-list-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await ErasureFile(path: "\(folder)/list").prepare(isLogEmpty: true)
    try await body(folder)
}

extension ErasureFile {
    fileprivate func all() async throws -> (entries: [Entry], unreadable: Int) {
        var entries: [Entry] = []
        let unreadable = try await read { entries += $0 }.unreadable
        return (entries, unreadable)
    }
}

extension ErasureFile.Entry {
    fileprivate static func example(_ number: Int = 7) -> ErasureFile.Entry {
        ErasureFile.Entry(
            log: UUID(), person: StreamName("person-\(number)"), created: UUID(), erased: UUID(),
            at: Timestamp(milliseconds: 1_000))
    }
}

@Suite struct `The file of erasures` {
    @Test func `a line has ids, the number of the person and the time, and only its owner may read the file`() async throws {
        try await withFolder { folder in
            let (file, entry) = (ErasureFile(path: "\(folder)/list"), ErasureFile.Entry.example())
            try await file.append([entry])
            let (log, created, erased) = (
                entry.log.uuidString.lowercased(), entry.created.uuidString.lowercased(), entry.erased.uuidString.lowercased()
            )
            #expect(
                try String(contentsOfFile: "\(folder)/list", encoding: .utf8)
                    == #"{"log":"\#(log)","person":"person-7","created":"\#(created)","erased":"\#(erased)","at":"1970-01-01T00:00:01.000Z"}"#
                    + "\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/list")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `a line that was cut spoils no other line, and lines that cannot be read are counted`() async throws {
        try await withFolder { folder in
            let (file, path) = (ErasureFile(path: "\(folder)/list"), "\(folder)/list")
            let (first, second, last) = (ErasureFile.Entry.example(), ErasureFile.Entry.example(), ErasureFile.Entry.example())
            try await file.append([first])
            let handle = try #require(FileHandle(forWritingAtPath: path))
            _ = try handle.seekToEnd()
            try handle.write(contentsOf: Data((String(repeating: "x", count: 5_000) + "\n{}\n" + #"{"log":"0"#).utf8))
            try await file.append([second])
            _ = try handle.seekToEnd()
            try handle.write(contentsOf: Data(last.line.dropLast().utf8))
            try handle.close()
            let (entries, unreadable) = try await file.all()
            #expect(entries == [first, second, last])
            #expect(unreadable == 3)
        }
    }

    @Test func `a long file is read page by page, and appends at the same time keep every line`() async throws {
        try await withFolder { folder in
            let file = ErasureFile(path: "\(folder)/list")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<10 {
                    group.addTask {
                        for part in 0..<10 {
                            let numbers = (0..<30).map { 1 + 1_000 * writer + 30 * part + $0 }
                            try await file.append(numbers.map { ErasureFile.Entry.example($0) })
                        }
                    }
                }
                try await group.waitForAll()
            }
            var pages: [Int] = []
            var persons: Set<StreamName> = []
            let unreadable = try await file.read { page in
                pages.append(page.count)
                persons.formUnion(page.map(\.person))
            }
            #expect((persons.count, unreadable.unreadable) == (3_000, 0))
            #expect(pages.count > 2)
        }
    }

    @Test func `later reads begin at the end of the last finished line, and at the beginning of a shorter file`() async throws {
        try await withFolder { folder in
            let (file, path) = (ErasureFile(path: "\(folder)/list"), "\(folder)/list")
            let entries = (1...3).map { ErasureFile.Entry.example($0) }
            func read(from offset: Int64) async throws -> (persons: [StreamName], end: Int64) {
                var persons: [StreamName] = []
                let end = try await file.read(from: offset) { persons += $0.map(\.person) }.end
                return (persons, end)
            }
            try await file.append([entries[0]])
            let (first, end) = try await read(from: 0)
            #expect(first == [entries[0].person])
            #expect(try await read(from: end).persons == [])
            let handle = try #require(FileHandle(forWritingAtPath: path))
            _ = try handle.seekToEnd()
            try handle.write(contentsOf: Data(entries[1].line.utf8.prefix(20)))
            #expect(try await read(from: end) == ([], end))
            try handle.write(contentsOf: Data(entries[1].line.utf8.dropFirst(20)))
            try handle.close()
            let (second, last) = try await read(from: end)
            #expect(second == [entries[1].person])
            try entries[2].line.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try await read(from: last) == ([entries[2].person], Int64(entries[2].line.utf8.count)))
        }
    }

    @Test func `an append that fails in the middle leaves no piece`() async throws {
        try await withFolder { folder in
            // A file system of a page or two, as root can mount one. Without that right there is nothing to see.
            let small = "\(folder)/small"
            try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: false)
            guard (try? await TestProgram.run("/bin/mount", ["-t", "tmpfs", "-o", "size=8k", "none", small])) != nil else {
                return
            }
            let failed: (any Error)?
            do {
                let file = ErasureFile(path: "\(small)/list")
                try await file.prepare(isLogEmpty: true)
                try await file.append([.example()])
                let many = (1...100).map { ErasureFile.Entry.example($0) }
                await #expect(throws: ErasureFile.Failure.self) { try await file.append(many) }
                let (entries, unreadable) = try await file.all()
                #expect((entries.count, unreadable) == (1, 0))
                try await file.append([.example()])
                #expect(try await file.all().entries.count == 2)
                failed = nil
            } catch { failed = error }
            try await TestProgram.run("/bin/umount", [small])
            if let failed { throw failed }
        }
    }

    @Test func `only an empty log makes the file, and a directory, a device and a pipe are refused without a wait`() async throws
    {
        try await withFolder { folder in
            let missing = ErasureFile(path: "\(folder)/missing")
            let failure = ErasureFile.Failure.missing(path: "\(folder)/missing")
            await #expect(throws: failure) { try await missing.prepare(isLogEmpty: false) }
            await #expect(throws: failure) { _ = try await missing.all() }
            await #expect(throws: failure) { try await missing.append([.example()]) }
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/missing"))
            try await missing.prepare(isLogEmpty: true)
            try await missing.append([.example()])
            try await missing.prepare(isLogEmpty: true)
            #expect(try await missing.all().entries.count == 1)
            try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
            for path in [folder, "/dev/full", "\(folder)/pipe"] {
                let file = ErasureFile(path: path)
                await #expect(throws: ErasureFile.Failure.self, "\(path)") { try await file.prepare(isLogEmpty: true) }
                await #expect(throws: ErasureFile.Failure.self, "\(path)") { try await file.append([.example()]) }
            }
        }
    }
}

extension TestStore {
    fileprivate func append(_ event: PersonEvent, to person: String, after version: Int32) async throws {
        let model = AppendRequest.counting("", after: 0)
        _ = try await log.record(
            AppendRequest(
                id: UUID(), streams: [StreamAppend([event], to: StreamName(person), after: version)],
                recordedAt: model.recordedAt, metadata: model.metadata))
    }

    /// Runs the subscription, and the list as the service of a server, until the list is applied.
    fileprivate func apply(_ list: ErasureList) async throws {
        try await withErasures(list: list) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await list.run() }
                defer { group.cancelAll() }
                try await eventually("the list is applied") { list.isApplied }
            }
        }
    }

    fileprivate func isErased(_ person: String) async throws -> Bool {
        try await client.query("SELECT log.is_erased(\(person))").decode(Bool.self) == [true]
    }
}

@Suite struct `Keeping erasures outside of the database` {
    @Test func `an erasure ends only after its line, and a file that cannot be written parks nothing`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/later/list")
                let list = ErasureList(file, store.context())
                try await store.write(0..<1)
                let position = try await store.erasePerson()
                let erasures = Erasures(store.context())
                try await store.withErasures(list: list) {
                    #expect(try await erasures.end(of: TestStore.erased, at: position, within: .seconds(1)) == nil)
                    #expect(try await Subscriptions(client: store.client).parkedStreams(of: "erasures").isEmpty)
                    #expect(try await store.words() == 1)
                    try FileManager.default.createDirectory(atPath: "\(folder)/later", withIntermediateDirectories: false)
                    try await file.prepare(isLogEmpty: true)
                    #expect(try await erasures.end(of: TestStore.erased, at: position, within: .seconds(60)) != nil)
                }
                #expect(try await store.words() == 0)
                let entries = try await file.all().entries
                #expect(entries.map(\.person) == [TestStore.erased])
                #expect(try await entries.first?.erased == store.reader.newest(of: TestStore.erased)?.envelope.id)
            }
        }
    }

    @Test func `a restored log erases the persons of the list, and nobody else who has the number of one`() async throws {
        try await TestStore.withTwo { store, other in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/list")
                try await store.write(0..<2)
                for person in ["person-7", "person-8"] { try await store.append(.created, to: person, after: 0) }
                let backup = try await store.client.exportedLog().bytes
                try await store.append(.erased, to: "person-7", after: 1)
                let list = ErasureList(file, store.context())
                try await store.withErasures(list: list) {
                    let end = try await Erasures(store.context()).end(of: TestStore.erased, at: 5, within: .seconds(60))
                    #expect(end != nil)
                }
                let line = try #require(try await file.all().entries.first)
                // Person 8 of another history, of another log, and person 8 who signed up again with the same token later: same id, later time.
                let eighth = try #require(try await store.reader.read(stream: StreamName("person-8")).first?.envelope)
                var others = [line, line, line]
                for index in others.indices { (others[index].person, others[index].erased) = (eighth.stream, UUID()) }
                others[1].created = eighth.id
                others[1].log = UUID()
                others[2].created = eighth.id
                others[2].at = Timestamp(milliseconds: eighth.recordedAt.milliseconds - 1)
                try await file.append(others + [line])

                try await other.withClient { client in
                    try await client.importLog(backup, decodedBy: [PersonEvent.self, NoteEvent.self, Counted.self])
                }
                try await TestStore.with(other) { restored in
                    #expect(try await restored.words() == 2)
                    let list = ErasureList(file, restored.context())
                    #expect(!list.isApplied)
                    let applying = Task { try await list.apply() }
                    try await eventually { try await restored.isErased("person-7") }
                    #expect(try await restored.reader.newest(of: TestStore.erased)?.envelope.id == line.erased)
                    // Nobody erases the words yet.
                    #expect(!list.isApplied)
                    #expect(try await restored.words() == 2)
                    try await restored.withErasures(list: list) {
                        let count = try await applying.value
                        #expect(count == 1)
                        #expect(list.isApplied)
                    }
                    #expect(try await list.apply() == 0)
                    #expect(try await restored.words() == 0)
                    #expect(try await Erasures(restored.context()).erasure(line.erased)?.end != nil)
                    #expect(try await !restored.isErased("person-8"))
                    #expect(try await file.all().entries.count == 5)
                }
            }
        }
    }

    @Test func `a node that learns of a lost end may answer only when the erasures are back`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let list = ErasureList(ErasureFile(path: "\(folder)/list"), store.context())
                try await store.write(0..<1)
                let position = try await store.erasePerson()
                #expect(position == 3)
                #expect(!list.isApplied)
                try await store.apply(list)
                try await store.withErasures(list: list) {
                    let end = try await Erasures(store.context()).end(of: TestStore.erased, at: position, within: .seconds(60))
                    #expect(end != nil)
                }
                try await store.database.loseEndOfLog(after: 2, script: "UPDATE log.subscriptions SET position = 2;")
                #expect(try await !store.isErased("person-7"))
                // PostgreSQL gives the position again, by which the process learns of the loss.
                _ = try await store.log.record(.counting("after", after: 0))
                try await eventually("the process learns of the loss") { !list.isApplied }
                try await store.apply(list)
                #expect(try await store.isErased("person-7"))
            }
        }
    }

    @Test func `an erasure that the log has, and that has not ended, keeps requests away, too`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let list = ErasureList(ErasureFile(path: "\(folder)/list"), store.context())
                try await store.write(0..<1)
                _ = try await store.erasePerson()
                let applying = Task { try await list.apply() }
                try await Task.sleep(for: .milliseconds(300))
                #expect(!list.isApplied)
                try await store.withErasures(list: list) {
                    let count = try await applying.value
                    #expect(count == 0)
                }
                #expect(list.isApplied)
                #expect(try await store.words() == 0)
            }
        }
    }

    /// Such as a full disk, on which the subscription cannot write its line.
    @Test func `a subscription that stands still keeps no server from answering if the log lacked nothing`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/list")
                try await store.write(0..<1)
                try await store.append(.created, to: "person-7", after: 0)
                try await store.append(.created, to: "person-8", after: 0)
                let created = try #require(try await store.reader.newest(of: TestStore.erased)?.envelope.id)
                try await store.append(.erased, to: "person-8", after: 1)
                let list = ErasureList(file, store.context(), patience: .milliseconds(50))
                #expect(try await list.apply() == 0)
                #expect(list.isApplied)
                #expect(try await store.words() == 1)

                // A person whom the log lacks is another matter.
                let log = try #require(try await store.reader.read(position: 1)?.envelope.id)
                try await file.append([
                    .init(log: log, person: TestStore.erased, created: created, erased: UUID(), at: Dependencies.system.now())
                ])
                let applying = Task { try await list.apply() }
                try await eventually { try await store.isErased("person-7") }
                try await Task.sleep(for: .milliseconds(300))
                #expect(!list.isApplied)
                try await store.withErasures(list: list) {
                    let count = try await applying.value
                    #expect(count == 1)
                }
                #expect(list.isApplied)
            }
        }
    }

    /// No cursor of this process tells of the loss.
    @Test func `a line of another node whose erasure a lost end took is applied by a node that runs`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/list")
                let list = ErasureList(file, store.context())
                try await store.write(0..<1)
                try await store.append(.created, to: "person-7", after: 0)
                try await store.withErasures(list: list) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { await list.run() }
                        defer { group.cancelAll() }
                        try await eventually { list.isApplied }
                        let created = try #require(try await store.reader.newest(of: TestStore.erased)?.envelope.id)
                        let log = try #require(try await store.reader.read(position: 1)?.envelope.id)
                        try await file.append([
                            .init(
                                log: log, person: TestStore.erased, created: created, erased: UUID(),
                                at: Dependencies.system.now())
                        ])
                        try await eventually { try await store.isErased("person-7") }
                        try await eventually { list.isApplied }
                        #expect(try await store.words() == 0)
                    }
                }
            }
        }
    }

    @Test func `who sees the end of an erasure that a process without the list led finds its line`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/list")
                let position = try await store.erasePerson()
                try await store.withErasures { try await store.reaches(position, "erasures") }
                #expect(try await file.all().entries.isEmpty)
                let erasures = Erasures(store.context(ErasureList(file, store.context())))
                for _ in 1...3 { #expect(try await erasures.end(of: TestStore.erased, at: position, within: .zero) != nil) }
                #expect(try await file.all().entries.map(\.person) == [TestStore.erased])
            }
        }
    }

    @Test func `an erasure without a line gets one, and no second one`() async throws {
        try await TestStore.with { store in
            try await withFolder { folder in
                let file = ErasureFile(path: "\(folder)/list")
                _ = try await store.erasePerson()
                try await store.append(.created, to: "person-8", after: 0)
                let list = ErasureList(file, store.context())
                #expect(try await list.complete() == 1)
                #expect(try await list.complete() == 0)
                let entries = try await file.all().entries
                #expect(entries.map(\.person) == [TestStore.erased])
                #expect(try await entries.first?.created == store.reader.read(stream: TestStore.erased).first?.envelope.id)
                #expect(try await entries.first?.log == store.reader.read(position: 1)?.envelope.id)
            }
        }
    }
}
