import Foundation
import TestDatabase
import Testing

/// Runs `scripts/test` with a program in the place of `swift`, which prints what a run of tests prints.
@Suite struct `The script that runs all tests` {
    private static let output = """
        ◇ Test run started.
        ◇ Test "a user signs up" started.
        ◇ Test "a gap is an error" started.
        ◇ Test case passing 1 argument limit → 5 to "a limit holds" started.
        ✘ Test "a gap is an error" recorded an issue at LogTests.swift:19:9: Expectation failed: (gaps → 2) == 1
        ↳ positions 4 and 7
        ✔ Test "a user signs up" passed after 0.1 seconds.
        ✘ Test "a limit holds" recorded an issue with 1 argument limit → 5 at LimitTests.swift:3:1: Issue recorded
        ✘ Test "a gap is an error" failed after 0.2 seconds with 1 issue.
        ✘ Test "a limit holds" with 2 test cases failed after 0.2 seconds with 1 issue.
        ✘ Suite "The log" failed after 0.2 seconds with 2 issues.
        ✘ Test run with 3 tests in 1 suite failed after 0.2 seconds with 2 issues.

        """

    /// Runs the script to its end.
    /// - Parameters:
    ///   - swift: the lines of a shell script; `$*` has the arguments of `swift`
    ///   - meanwhile: gets the script's process and a function that returns the output so far
    private static func run(
        _ swift: String, environment: [String: String] = [:],
        meanwhile: (Process, () throws -> String) async throws -> Void = { _, _ in }
    ) async throws -> (status: Int32, output: String) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (file, output) = (directory.appending(path: "swift"), directory.appending(path: "output"))
        try Data("#!/bin/sh\n\(swift)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = Repository.root.appending(path: "scripts/test")
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PATH": "\(directory.path):/usr/bin:/bin", "OUTPUT": Self.output]
        ) { $1 }.merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        try await meanwhile(process) { try String(contentsOf: output, encoding: .utf8) }
        let status = try await process.untilEnd()
        return (status, try String(contentsOf: output, encoding: .utf8))
    }

    @Test func `the output of a failed run ends with the issues and the names of its failed tests`() async throws {
        let (status, output) = try await Self.run(#"printf %s "$OUTPUT"; exit 3"#)
        #expect(status == 3)
        #expect(
            output == Self.output + """

                ✘ Test "a gap is an error"
                  ✘ Test "a gap is an error" recorded an issue at LogTests.swift:19:9: Expectation failed: (gaps → 2) == 1
                  ↳ positions 4 and 7

                ✘ Test "a limit holds"
                  ✘ Test "a limit holds" recorded an issue with 1 argument limit → 5 at LimitTests.swift:3:1: Issue recorded

                swift test --skip-build: exit status 3

                Failed: 2
                  Test "a gap is an error"
                  Test "a limit holds"

                """)
    }

    @Test func `a passed run adds nothing to its output`() async throws {
        let (status, output) = try await Self.run("echo passed")
        #expect(status == 0)
        #expect(output == "passed\n")
    }

    @Test func `the output of a crashed run ends with the crash and the tests that did not end`() async throws {
        let (status, output) = try await Self.run(
            #"""
            printf '%s\n' '◇ Test "a user signs up" started.' '◇ Test "a gap is an error" started.'
            printf '%s\n' '✔ Test "a user signs up" passed after 0.1 seconds.' 'Tree.swift:6: Fatal error: Index out of range'
            exit 1
            """#)
        #expect(status == 1)
        #expect(
            output.hasSuffix(
                """
                swift test --skip-build: exit status 1
                  Tree.swift:6: Fatal error: Index out of range
                  did not end: Test "a gap is an error"

                Failed: 0

                """))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the run and the script`(signal: Int32) async throws {
        let (status, output) = try await Self.run("echo running; exec sleep 600") { process, output in
            try await eventually("a run") { try output() == "running\n" }
            kill(process.processIdentifier, signal)
        }
        #expect(status == 128 + signal)
        #expect(output.contains("swift test --skip-build: exit status"))
    }

    @Test func `a run that stands still is ended, and the tests that did not end are listed`() async throws {
        // The run ignores SIGTERM, and a process that it leaves behind holds its output.
        let (status, output) = try await Self.run(
            #"""
            printf '%s\n' '◇ Test "a user signs up" started.' '◇ Test "a gap is an error" started.'
            printf '%s\n' '✔ Test "a user signs up" passed after 0.1 seconds.'
            trap "" TERM
            setsid sleep 60 &
            while :; do sleep 1; done
            """#, environment: ["STANDSTILL_SECONDS": "2"])
        #expect(status == 128 + SIGKILL)
        #expect(
            output.hasSuffix(
                """
                no test began or ended for 2 s
                swift test --skip-build: exit status 137
                  did not end: Test "a gap is an error"

                Failed: 0

                """))
    }
}
