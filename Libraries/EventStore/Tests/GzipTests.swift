import EventStore
import Foundation
import TestChance
import Testing

@Suite struct `Reading and writing gzip files` {
    /// Several pieces long, so that members and chunks end at different places.
    private static let text = (0..<60_000).map { "line \($0) of the log, \($0 &* 2_654_435_761)\n" }.joined()

    private static func withFile<Value>(_ content: [UInt8] = [], _ body: (FileHandle, URL) throws -> Value) throws -> Value {
        let url = FileManager.default.temporaryDirectory.appending(path: "humon-gzip-\(UUID().uuidString.prefix(8))")
        try Data(content).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(try FileHandle(forUpdating: url), url)
    }

    private static func compressed(_ text: String, pieceBytes: Int = 100_000) throws -> [UInt8] {
        try withFile { file, url in
            let writer = GzipWriter(file)
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
                try writer.write(Array(bytes[start..<min(start + pieceBytes, bytes.count)]))
            }
            try writer.finish()
            return Array(try Data(contentsOf: url))
        }
    }

    private static func read(_ content: [UInt8]) throws -> String {
        try withFile(content) { file, _ in
            let reader = GzipReader(file)
            var bytes: [UInt8] = []
            while let piece = try reader.read() { bytes += piece }
            #expect(try reader.read() == nil)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test(arguments: [1_000_000, 100_000, 4_097])
    func `a gzip file reads back unchanged in pieces of any size`(pieceBytes: Int) throws {
        let file = try Self.compressed(Self.text, pieceBytes: pieceBytes)
        #expect(file.count < Self.text.utf8.count / 2)
        #expect(try Self.read(file) == Self.text)
    }

    @Test func `a gzip file of no bytes is read as no bytes`() throws {
        #expect(try Self.read(Self.compressed("")) == "")
    }

    @Test func `a gzip file of several members is read as one, even with zeros after the end`() throws {
        let members = try Self.compressed(Self.text) + Self.compressed("") + Self.compressed("the end\n")
        #expect(try Self.read(members) == Self.text + "the end\n")
        #expect(try Self.read(members + [UInt8](repeating: 0, count: 300_000)) == Self.text + "the end\n")
    }

    @Test func `a gzip file of another program with a name in its header is read`() throws {
        // printf 'tea\n' > tea; gzip --name tea
        let file: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x74, 0x65, 0x61, 0x00, 0x2B, 0x49, 0x4D, 0xE4, 0x02,
            0x00, 0xE4, 0x52, 0x36, 0x17, 0x04, 0x00, 0x00, 0x00,
        ]
        #expect(try Self.read(file) == "tea\n")
    }

    @Test func `a gzip file that is cut off at any byte is incomplete`() throws {
        let file = try Self.compressed("one line of the log\n")
        for count in 0..<file.count { #expect(throws: GzipError.truncated) { try Self.read(Array(file[..<count])) } }
        let second = file + file
        for count in file.count + 1..<second.count {
            #expect(throws: GzipError.truncated) { try Self.read(Array(second[..<count])) }
        }
    }

    @Test func `a gzip file with a wrong checksum or length is damaged`() throws {
        let file = try Self.compressed(Self.text)
        for offset in [1, 5] {
            var damaged = file
            damaged[file.count - offset] ^= 1
            #expect(throws: GzipError.corrupt) { try Self.read(damaged) }
        }
    }

    @Test(arguments: [1, 2] as [UInt64]) func `a damaged gzip file never gives other bytes without an error`(seed: UInt64) throws
    {
        var generator = SeededGenerator(seed: seed)
        let text = String(Self.text.prefix(2_000))
        let file = try Self.compressed(text)
        for _ in 0..<500 {
            var damaged = file
            damaged[.random(in: 0..<file.count, using: &generator)] ^= .random(in: 1...255, using: &generator)
            do { #expect(try Self.read(damaged) == text) } catch is GzipError {}
        }
    }

    @Test(arguments: ["tea", "\u{1F}", "\0\0tea"]) func `a gzip file with bytes after its end is refused`(more: String) throws {
        let file = try Self.compressed(Self.text) + Array(more.utf8)
        let expected: GzipError = more == "\u{1F}" ? .truncated : .trailingGarbage
        #expect(throws: expected) { try Self.read(file) }
    }

    @Test func `a file of another format is refused`() throws {
        #expect(throws: GzipError.notGzip) { try Self.read(Array("tea\n".utf8)) }
        #expect(throws: GzipError.notGzip) { try Self.read([0x28, 0xB5, 0x2F, 0xFD, 0, 0]) }
    }
}

@Suite struct `Cancelling work on a gzip file in a pipe` {
    private let pipe = Pipe()

    @Test(.timeLimit(.minutes(1))) func `a cancelled reader of a pipe without bytes ends`() async throws {
        let reader = GzipReader(pipe.fileHandleForReading)
        let reading = Task.detached { _ = try reader.read() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test(.timeLimit(.minutes(1))) func `a cancelled writer to a pipe without a reader ends`() async throws {
        let writer = GzipWriter(pipe.fileHandleForWriting)
        let writing = Task.detached {
            var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
            // More than a pipe holds, and incompressible.
            for _ in 0..<100 { try writer.write((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
        }
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
    }

    @Test func `a pipe that lost its reader has an error of its own`() throws {
        signal(SIGPIPE, SIG_IGN)
        let writer = GzipWriter(pipe.fileHandleForWriting)
        try pipe.fileHandleForReading.close()
        #expect(throws: GzipError.readerClosed) { try writer.finish() }
    }

    @Test func `a gzip file on a full disk is an error with the reason`() throws {
        let disk = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        #expect(throws: GzipError.cannotWrite(reason: "No space left on device")) { try GzipWriter(disk).finish() }
    }
}
