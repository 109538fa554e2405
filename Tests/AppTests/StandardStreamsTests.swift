import Foundation
import TestServer
import Testing

/// Each line of the shell calls the program `"$0"`, and writes its exit code to the file `status`.
@Suite(.directory) struct `Standard streams` {
    private static func status(_ line: String, in directory: URL) async throws -> String {
        let shell = try await HumonProcess.run(
            ["-c", line, HumonProcess.executable.path], in: directory, executable: URL(fileURLWithPath: "/bin/sh"))
        let status = try? String(contentsOf: directory.appending(path: "status"), encoding: .utf8)
        return status ?? "the shell ended with \(shell.status): \(shell.error)"
    }

    /// Makes a pipe refuse every byte with EAGAIN, as one that ssh or a terminal shares may.
    private static let fill = "dd if=/dev/zero bs=4096 count=100 oflag=nonblock 2>/dev/null"

    @Test(
        arguments: [
            (#""$0" --version >/dev/full"#, 1), (#""$0" --version >&-"#, 1), (#""$0" --version 2>&-"#, 0),
            (#""$0" settings >/dev/full 2>/dev/full"#, 1), (#""$0" tea 2>/dev/full"#, 64), (#""$0" tea <&- >&- 2>&-"#, 64),
            (#"HUMON_TEA=1 "$0" settings 2>/dev/full"#, 2), (#"HUMON_TEA=1 "$0" settings 2>&-"#, 2),
        ])
    func `a stream that is full or closed changes no exit code of standard error, and fails that of standard output`(
        line: String, code: Int
    ) async throws {
        #expect(try await Self.status(line + "; echo $? >status", in: directory) == "\(code)\n", "\(line)")
    }

    @Test func `a pipe without a reader ends the help with 0`() async throws {
        let line = #"mkfifo pipe; true <pipe & { wait; "$0" --help; echo $? >status; } >pipe"#
        #expect(try await Self.status(line, in: directory) == "0\n")
    }

    @Test func `advice that standard error refuses neither ends a command nor leaves the private PostgreSQL behind`()
        async throws
    {
        try await HumonProcess.run(["demo", "--events", "30"], in: directory).succeeded()
        for (command, code) in [("log show 999999999", 2), ("log search --limit 1", 0), ("log export export.zst", 0)] {
            let line = """
                { \(Self.fill) >&2; "$0" \(command) >/dev/null; echo $? >status; } 2>&1 |
                    { until test -s status; do sleep 0.1; done; }
                """
            #expect(try await Self.status(line, in: directory) == "\(code)\n", "\(command)")
            #expect(!FileManager.default.fileExists(atPath: directory.path + "/data/cluster/postmaster.pid"))
            try FileManager.default.removeItem(at: directory.appending(path: "status"))
        }
    }

    @Test func `a slow reader of a pipe that does not block gets the whole output, and a signal ends the wait for one`()
        async throws
    {
        // The reader begins when the pipe has refused a byte for a while.
        let slow = """
            { \(Self.fill); "$0" settings --json; echo $? >status; } | { sleep 1; cat >out; }; "$0" settings --json >whole
            tail -c "$(wc -c <whole)" out | cmp -s - whole || echo cut >status
            """
        #expect(try await Self.status(slow, in: directory) == "0\n")
        let ended = """
            { \(Self.fill); "$0" settings & sleep 1; kill -TERM $!; wait $!; echo $? >ended; } | until test -s ended; do sleep 0.1; done
            mv ended status
            """
        #expect(try await Self.status(ended, in: directory) == "143\n")
    }
}
