import Encoding
import Foundation
import Postgres
import TestDatabase
import TestFixture
import Testing

@testable import EventStore

extension Trait where Self == Fixture<String> {
    /// The path of a file that does not exist yet, in a directory that is removed with the test.
    static var path: Self {
        Self { body in
            let folder = FileManager.default.temporaryDirectory.appending(path: "humon-list-\(UUID().uuidString.prefix(8))").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try await body("\(folder)/list")
        }
    }
}

var path: String { Fixture.current }

extension ErasureFile {
    func all() async throws -> (entries: [Entry], unreadable: Int) {
        var entries: [Entry] = []
        let unreadable = try await read { entries += $0 }.unreadable
        return (entries, unreadable)
    }

    func persons() async throws -> [String] { try await all().entries.map(\.person.description) }

    /// Adds lines as another program would.
    func add(_ entries: [Entry]) async throws {
        try prepare()
        let size = try await read { _ in }.size
        #expect(try append(entries, at: size) != nil)
    }
}

extension ErasureFile.Entry {
    static func example(_ number: Int = 7) -> ErasureFile.Entry {
        ErasureFile.Entry(
            log: UUID(), person: StreamName("person-\(number)"), created: UUID(), erased: UUID(),
            at: Timestamp(milliseconds: 1_000), cursor: LogCursor("12.kbnapcmd"))
    }
}

@Suite(.path) struct `The file of erasures` {
    @Test func `a line has ids, the person's number, time and cursor, and only its owner may read the file`() async throws {
        let (file, entry) = (ErasureFile(path: path), ErasureFile.Entry.example())
        try await file.add([entry])
        let (log, created, erased) = (
            entry.log.uuidString.lowercased(), entry.created.uuidString.lowercased(), entry.erased.uuidString.lowercased()
        )
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == #"{"log":"\#(log)","person":"person-7","created":"\#(created)","erased":"\#(erased)","#
                + #""at":"1970-01-01T00:00:01.000Z","cursor":"12.kbnapcmd"}"# + "\n")
        #expect(try await file.all().entries == [entry])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a line that was cut spoils no other line, and lines that cannot be read are counted`() async throws {
        let (file, entries) = (ErasureFile(path: path), (1...3).map { ErasureFile.Entry.example($0) })
        try await file.add([entries[0]])
        let handle = try #require(FileHandle(forWritingAtPath: path))
        _ = try handle.seekToEnd()
        try handle.write(contentsOf: Data((String(repeating: "x", count: 5_000) + "\n{}\n" + #"{"log":"0"#).utf8))
        try await file.add([entries[1]])
        _ = try handle.seekToEnd()
        try handle.write(contentsOf: Data(entries[2].line.dropLast().utf8))
        try handle.close()
        let (found, unreadable) = try await file.all()
        #expect(found == entries)
        #expect(unreadable == 3)
    }

    @Test func `a long file is read page by page, and an append to a file of another size adds nothing`() async throws {
        let file = ErasureFile(path: path)
        #expect(try await file.all().entries.isEmpty)
        try await file.add((1...3_000).map { ErasureFile.Entry.example($0) })
        var pages: [Int] = []
        let (size, unreadable) = try await file.read { pages.append($0.count) }
        #expect((pages.reduce(0, +), unreadable) == (3_000, 0))
        #expect(pages.count > 2)
        #expect(try file.append([.example()], at: size - 1) == nil)
        #expect(try await file.read { _ in }.size == size)
    }

    @Test func `an append that fails in the middle leaves no piece`() async throws {
        // A file system of a page or two, as root can mount one. Without that right there is nothing to see.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard (try? await TestProgram.run("/bin/mount", ["-t", "tmpfs", "-o", "size=8k", "none", path])) != nil else {
            return
        }
        let failed: (any Error)?
        do {
            let file = ErasureFile(path: "\(path)/list")
            try await file.add([.example()])
            let size = try await file.read { _ in }.size
            let many = (1...100).map { ErasureFile.Entry.example($0) }
            #expect(throws: ErasureFile.Failure.self) { try file.append(many, at: size) }
            let (entries, unreadable) = try await file.all()
            #expect((entries.count, unreadable) == (1, 0))
            try await file.add([.example()])
            #expect(try await file.all().entries.count == 2)
            failed = nil
        } catch { failed = error }
        try await TestProgram.run("/bin/umount", [path])
        if let failed { throw failed }
    }

    @Test func `a missing directory, a directory, a device and a pipe are refused without a wait`() async throws {
        try #require(mkfifo(path, 0o600) == 0)
        for path in ["\(path)-folder/list", "/tmp", "/dev/full", path] {
            #expect(throws: ErasureFile.Failure.self, "\(path)") { try ErasureFile(path: path).prepare() }
        }
        await #expect(throws: ErasureFile.Failure.self) { _ = try await ErasureFile(path: path).all() }
    }
}
