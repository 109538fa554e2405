internal import Foundation

/// The process that a cluster's pid file names, with the state in which it says to be.
struct Postmaster {
    /// The line of the pid file with the state, from 1: `LOCK_FILE_LINE_PM_STATUS` of PostgreSQL's pidfile.h.
    private static let stateLine = 8
    /// `LOCK_FILE_LINE_PORT`.
    private static let portLine = 4
    /// The port of the servers that an upgrade runs. Each listens where no other program looks for a socket.
    static let portOfUpgrade = "50432"

    let process: Int32
    /// Such as `ready` or `stopping`; empty before the postmaster wrote it.
    let state: String
    /// Whether the process has ended, and keeps its number until its parent asks for its status, or is known to be another program: a
    /// postmaster works in the directory of its cluster.
    let isMistaken: Bool
    /// Whether pg_upgrade started it. After an upgrade was killed it goes on, and is of no use.
    let isOfUpgrade: Bool

    /// Reads the pid file. The result is `nil` if the file is missing, or if its process is.
    init?(of layout: Layout) {
        let lines = (try? String(contentsOfFile: layout.pidFile, encoding: .utf8))?
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard let lines, let process = lines.first.flatMap({ Int32($0) }), kill(process, 0) == 0 else { return nil }
        self.process = process
        // Padded with spaces.
        state = lines.dropFirst(Self.stateLine - 1).first?.trimmingCharacters(in: .whitespaces) ?? ""
        isOfUpgrade = lines.dropFirst(Self.portLine - 1).first.map { $0 == Self.portOfUpgrade } ?? false
        let (works, own) = (SystemCalls.realPath("/proc/\(process)/cwd"), SystemCalls.realPath(layout.cluster))
        isMistaken = works != nil && works != own || Self.isZombie(process)
    }

    /// `false` on systems without /proc.
    private static func isZombie(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        // The name of the program stands in parentheses and may contain some.
        return status[(status.lastIndex(of: ")") ?? status.startIndex)...].dropFirst(2).first == "Z"
    }
}
