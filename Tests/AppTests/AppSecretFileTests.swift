import Foundation
import TestServer
import Testing

@testable import App

@Suite(.directory) struct `The file of a generated secret` {
    @Test(arguments: [("", ""), ("HUMON_PORT=1", "HUMON_PORT=1\n"), ("HUMON_PORT=1\n", "HUMON_PORT=1\n")])
    func `the file keeps its content and gets the mode 0600`(before: String, kept: String) async throws {
        let file = directory.appending(path: ".env")
        if !before.isEmpty { try before.write(to: file, atomically: false, encoding: .utf8) }
        let secret = try AppSecretFile.make(at: file.path)
        #expect(secret.utf8.count == 64)
        #expect(try String(contentsOf: file, encoding: .utf8) == "\(kept)TB_APP_SECRET=\(secret)\n")
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `links and special files are refused`() async throws {
        let (file, other) = (directory.appending(path: ".env"), directory.appending(path: "other"))
        try "keep me".write(to: other, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        let error = #expect(throws: CommandFailure.self) { try AppSecretFile.make(at: file.path) }
        #expect(error?.description == "Cannot keep a TB_APP_SECRET in \(file.path): it is a link")
        #expect(try String(contentsOf: other, encoding: .utf8) == "keep me")
        try FileManager.default.removeItem(at: file)
        try #require(mkfifo(file.path, 0o600) == 0)
        #expect(throws: CommandFailure.self) { try AppSecretFile.make(at: file.path) }
    }
}
