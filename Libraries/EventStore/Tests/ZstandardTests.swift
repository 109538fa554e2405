import EventStore
import Foundation
import TestChance
import Testing

@Suite struct `Reading and writing zstd files` {
    /// Several pieces long, so that blocks and chunks end at different places.
    private static let text = (0..<60_000).map { "line \($0) of the log, \($0 &* 2_654_435_761)\n" }.joined()

    private static func withFile<Value>(_ content: [UInt8] = [], _ body: (FileHandle, URL) throws -> Value) throws -> Value {
        let url = FileManager.default.temporaryDirectory.appending(path: "humon-zstd-\(UUID().uuidString.prefix(8))")
        try Data(content).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(try FileHandle(forUpdating: url), url)
    }

    private static func compressed(_ text: String, pieceBytes: Int = 100_000) throws -> [UInt8] {
        try withFile { file, url in
            let writer = ZstandardWriter(file)
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
            let reader = ZstandardReader(file)
            var bytes: [UInt8] = []
            while let piece = try reader.read() { bytes += piece }
            #expect(try reader.read() == nil)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test(arguments: [1_000_000, 100_000, 4_097])
    func `a zstd file reads back unchanged in pieces of any size`(pieceBytes: Int) throws {
        let file = try Self.compressed(Self.text, pieceBytes: pieceBytes)
        #expect(file.count < Self.text.utf8.count / 2)
        #expect(try Self.read(file) == Self.text)
        #expect(try Self.read(Self.compressed("")) == "")
    }

    @Test func `a zstd file that is cut off at any byte is incomplete`() throws {
        let file = try Self.compressed("one line of the log\n")
        for count in 0..<file.count { #expect(throws: ZstandardError.truncated) { try Self.read(Array(file[..<count])) } }
    }

    @Test func `a zstd file with a wrong checksum or without one, and a file of another format are refused`() throws {
        var file = try Self.compressed(Self.text)
        file[file.count - 1] ^= 1
        #expect(throws: ZstandardError.corrupt) { try Self.read(file) }
        // printf 'tea\n' | zstd --no-check
        let unchecked: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x21, 0x00, 0x00, 0x74, 0x65, 0x61, 0x0A]
        #expect(throws: ZstandardError.noChecksum) { try Self.read(unchecked) }
        for other in [Array("tea\n".utf8), [0x1F, 0x8B, 0x08, 0, 0, 0]] {
            #expect(throws: ZstandardError.notZstandard) { try Self.read(other) }
        }
    }

    @Test func `a zstd file with any changed byte gives the same bytes or an error`() throws {
        let text = String(Self.text.prefix(2_000))
        let file = try Self.compressed(text)
        for offset in file.indices {
            for bit in 0..<8 {
                var damaged = file
                damaged[offset] ^= 1 << UInt8(bit)
                do { #expect(try Self.read(damaged) == text) } catch is ZstandardError {}
            }
        }
    }

    @Test func `a zstd file with bytes or a second frame after its end is refused`() throws {
        let file = try Self.compressed(Self.text)
        for more in [Array("tea".utf8), [0], file] {
            #expect(throws: ZstandardError.trailingGarbage) { try Self.read(file + more) }
        }
    }
}

@Suite struct `Cancelling work on a zstd file in a pipe` {
    private let pipe = Pipe()

    @Test(.timeLimit(.minutes(1))) func `a cancelled reader of a pipe without bytes ends`() async throws {
        let reader = ZstandardReader(pipe.fileHandleForReading)
        let reading = Task.detached { _ = try reader.read() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test(.timeLimit(.minutes(1))) func `a cancelled writer to a pipe without a reader ends`() async throws {
        let writer = ZstandardWriter(pipe.fileHandleForWriting)
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
        let writer = ZstandardWriter(pipe.fileHandleForWriting)
        try pipe.fileHandleForReading.close()
        #expect(throws: ZstandardError.readerClosed) { try writer.finish() }
    }

    @Test func `a zstd file on a full disk is an error with the reason`() throws {
        let disk = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        #expect(throws: ZstandardError.cannotWrite(reason: "No space left on device")) { try ZstandardWriter(disk).finish() }
    }
}
