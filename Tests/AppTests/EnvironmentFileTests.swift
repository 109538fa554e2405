import Foundation
import TestServer
import Testing

@testable import App

@Suite struct `The file of settings` {
    private static func values(_ bytes: some Sequence<UInt8>) async throws -> [String: String] {
        try await HumonProcess.withDirectory { directory in
            let file = directory.appending(path: ".env")
            try Data(bytes).write(to: file)
            return try EnvironmentFile.values(atPath: file.path)
        }
    }

    @Test(arguments: [
        ("A=1\nB=2\n", ["A": "1", "B": "2"]), ("# settings\r\nA=1\r\n\r\nB=2\r\n", ["A": "1", "B": "2"]),
        ("\u{FEFF}A=1\nB=2", ["A": "1", "B": "2"]), ("\u{FEFF}# settings\r\nA=1", ["A": "1"]),
        ("export A=1\n  export\tB = 2 \n", ["A": "1", "B": "2"]), ("exporter=1", ["exporter": "1"]),
        (#"A="/srv/x y" # data"#, ["A": "/srv/x y"]), ("A='$x # \"y\"'#", ["A": "$x # \"y\""]), ("A=''", ["A": ""]),
        ("A=x # comment", ["A": "x"]), ("A=x  # c", ["A": "x"]), ("A=x\t # c", ["A": "x"]),
        ("A=x#y", ["A": "x#y"]), ("A=a\"b", ["A": "a\"b"]), (#"A=C:\x"#, ["A": #"C:\x"#]),
        ("A=1\nA=2", ["A": "2"]), ("A=", ["A": ""]), ("A=postgres://u:p=@h/d?x=y", ["A": "postgres://u:p=@h/d?x=y"]), ("", [:]),
        (" \t\n  # x\n", [:]),
    ])
    func `is read as Docker Compose reads it`(text: String, expected: [String: String]) async throws {
        #expect(try await Self.values(text.utf8) == expected)
    }

    @Test(arguments: [
        ("A=1\nsecret", 2), ("A=1\r\n\r\nB: secret", 3), ("=secret", 1), ("1A=secret", 1), ("A-B=secret", 1), ("A B=secret", 1),
        ("A=\"secret", 1), ("A='secret\n'", 1), ("A=\"x\" secret", 1), (#"A="secret\"x""#, 1), (#"A='secret\'"#, 1),
        ("A=secret$x", 1),
        ("A=\"${secret}\"", 1), ("A=#secret", 1), ("A=x\t#secret", 1), ("A=secret\u{A0}", 1), ("A=\u{3000}secret", 1),
        ("A=sec\rret", 1), ("A=sec\0ret", 1), ("export", 1),
    ])
    func `names the line that could be read in two ways, and shows nothing of it`(text: String, line: Int) async throws {
        let error = await #expect(throws: SettingsError.self) { try await Self.values(text.utf8) }
        let description = try #require(error).description
        #expect(description.hasPrefix("Line \(line) of /") && !description.contains("secret"), "\(description)")
    }

    @Test func `must be a text in UTF-8`() async throws {
        for bytes in [[0xFF, 0xFE, 0x41, 0, 0x3D, 0, 0x31, 0], [0x41, 0x3D, 0xE9]] as [[UInt8]] {
            let error = await #expect(throws: SettingsError.self) { try await Self.values(bytes) }
            #expect(try #require(error).description.contains("UTF-8"))
        }
    }

    @Test(.directory) func `stops a command with the line, and its values count whatever editor wrote it`() async throws {
        func settings(_ text: String, _ environment: [String: String] = [:]) async throws -> HumonProcess.Result {
            try text.write(to: directory.appending(path: ".env"), atomically: true, encoding: .utf8)
            return try await HumonProcess.run(["settings", "--json"], in: directory, environment: environment)
        }
        let read = try await settings("\u{FEFF}# my settings\r\nexport HUMON_HOST=\"127.0.0.2\"\r\n")
        #expect(read.output.contains(#""value":"127.0.0.2""#), "\(read.output)\(read.error)")
        let unknown = try await settings("\u{FEFF}HUMON_COLOUR=red\r\n")
        #expect((unknown.status, unknown.error.contains("HUMON_COLOUR is not a setting")) == (2, true), "\(unknown.error)")
        let refused = try await settings("HUMON_HOST=1\nHUMON_PORT 9000\n")
        #expect((refused.status, refused.error.contains("Line 2 of .env cannot be read")) == (78, true), "\(refused.error)")
        let quoted = try await settings("", ["HUMON_POSTGRES_BIN": #""/srv/x""#])
        #expect((quoted.status, quoted.error.contains("HUMON_POSTGRES_BIN has quotes")) == (2, true), "\(quoted.error)")
    }
}
