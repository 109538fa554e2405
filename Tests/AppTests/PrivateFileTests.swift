import Foundation
import TestServer
import Testing

@testable import App

@Suite struct `Writing a private file` {
    private struct NoTea: Error {}

    private static func write(_ text: String, at path: String, isOverwriting: Bool = false) async throws {
        try await PrivateFile.write(at: path, isOverwriting: isOverwriting) { try $0.write(contentsOf: Data(text.utf8)) }
    }

    @Test func `a private file appears as a whole or not at all`() async throws {
        try await HumonProcess.withDirectory { folder in
            let (directory, path) = (folder.path, folder.appending(path: "tea").path)
            await #expect(throws: NoTea.self) {
                try await PrivateFile.write(at: path, isOverwriting: false) { file in
                    try file.write(contentsOf: Data("te".utf8))
                    throw NoTea()
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
            try await Self.write("tea", at: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "tea")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["tea"])
        }
    }

    @Test func `a directory, a pipe, a device and a link are refused by name before the work, and stay`() async throws {
        try await HumonProcess.withDirectory { folder in
            let (pipe, link, tea) = (folder.path + "/pipe", folder.path + "/link", folder.path + "/tea")
            try #require(mkfifo(pipe, 0o600) == 0)
            try await Self.write("tea", at: tea)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tea)
            for (path, isOverwriting) in [folder.path, pipe, link, "/dev/null", ""].flatMap({ [($0, false), ($0, true)] }) {
                let error = await #expect(throws: CommandFailure.self, "\(path)") {
                    try await PrivateFile.write(at: path, isOverwriting: isOverwriting) { _ in throw NoTea() }
                }
                let named = path.isEmpty ? "empty" : path
                #expect(error?.description.contains(named) == true && error?.description.contains("--force") == false)
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == tea)
            #expect(try String(contentsOfFile: tea, encoding: .utf8) == "tea")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == ["pipe", "link", "tea"])
        }
    }

    @Test func `a private file replaces another one only if asked`() async throws {
        try await HumonProcess.withDirectory { folder in
            let (directory, path) = (folder.path, folder.appending(path: "tea").path)
            // Not even that of one which appears while it is written.
            await #expect(throws: CommandFailure.self) {
                try await PrivateFile.write(at: path, isOverwriting: false) { _ in
                    try Data("first".utf8).write(to: URL(fileURLWithPath: path))
                }
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
            await #expect(throws: CommandFailure.self) { try await Self.write("second", at: path) }
            try await Self.write("third", at: path, isOverwriting: true)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "third")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["tea"])
        }
    }
}
