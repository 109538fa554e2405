import Foundation
import Testing

@testable import Transparency

@Suite struct `Reading the files of a tree` {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        var writer = try TreeWriter(scratch.open(), key: .random(name: "example.org/log"))
        try writer.append(entries(0..<300), at: 0)
    }

    private func bytes(_ path: String) throws -> [UInt8]? {
        try scratch.open().bytes(of: try #require(TreeResource(path: path)))
    }

    @Test func `a file is read by its path, and a missing one is none`() throws {
        #expect(try bytes("tile/0/000")?.count == 8_192)
        #expect(try bytes("tile/0/001.p/44")?.count == 44 * 32)
        #expect(try bytes("tile/entries/001.p/44")?.prefix(5) == [0, 3] + Array("256".utf8))
        #expect(try bytes("checkpoint") == (try scratch.open().checkpoint()?.bytes))
        #expect(try bytes("tile/0/001") == nil)
        #expect(try bytes("tile/0/x001/000") == nil)
        #expect(try bytes("tile/5/000") == nil)
    }

    @Test func `a link is not followed, whether it is the file or a folder above it`() throws {
        let files = FileManager.default
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch.path + "/secret"))
        try files.createSymbolicLink(atPath: scratch.file("tile/0/005"), withDestinationPath: scratch.path + "/secret")
        #expect(throws: TreeError.self) { try bytes("tile/0/005") }
        try files.createDirectory(atPath: scratch.path + "/outside", withIntermediateDirectories: false)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: scratch.path + "/outside/000"))
        try files.createSymbolicLink(atPath: scratch.file("tile/7"), withDestinationPath: scratch.path + "/outside")
        #expect(throws: TreeError.self) { try bytes("tile/7/000") }
    }

    @Test func `what is no ordinary file or is too long is not read`() throws {
        try FileManager.default.createDirectory(atPath: scratch.file("tile/0/006"), withIntermediateDirectories: false)
        #expect(throws: TreeError.malformed(path: "tile/0/006", reason: "it is no ordinary file")) { try bytes("tile/0/006") }
        let made = unsafe mkfifo(scratch.file("tile/0/007"), 0o600)
        #expect(made == 0)
        #expect(throws: TreeError.malformed(path: "tile/0/007", reason: "it is no ordinary file")) { try bytes("tile/0/007") }
        try Data(count: 8_193).write(to: URL(fileURLWithPath: scratch.file("tile/0/008")))
        #expect(throws: TreeError.malformed(path: "tile/0/008", reason: "it has more than 8192 bytes")) {
            try bytes("tile/0/008")
        }
    }

    @Test func `the files are for their owner only`() throws {
        for name in ["", "tile", "checkpoint", "tile/entries/000"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name))
            #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o077 } == 0, "\(name)")
        }
    }

    @Test func `a directory whose parent is missing is an error that names it`() {
        let error = #expect(throws: TreeError.self) { try TileDirectory(path: scratch.path + "/a/b") }
        #expect(error?.description == "cannot open the directory \(scratch.path)/a/b: No such file or directory")
    }
}
