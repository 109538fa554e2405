internal import Foundation

/// PostgreSQL's process of a connection, on this machine.
struct ServerProcess {
    private let id: pid_t

    /// - Returns: `nil` if the process runs on another machine, in another container, or behind a pooler
    init?(of connection: borrowing PQConnection) {
        id = connection.serverProcess
        // The peer of a Unix socket is PostgreSQL's first process, which starts a process for each connection. TCP has no peer.
        guard let first = SystemCalls.peer(of: connection.socket), first > 0, Self.parent(of: id) == first else { return nil }
    }

    /// Does nothing if this process may not do that: it needs the account of PostgreSQL, or root's.
    func lowerPriority(toNiceness niceness: Int32) {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(id), niceness)
    }

    private static func parent(of process: pid_t) -> pid_t? {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
        // The name of the program, in parentheses, may have spaces. The state and the parent follow.
        let fields = status[(status.lastIndex(of: ")") ?? status.endIndex)...].split(separator: " ")
        return fields.count > 2 ? pid_t(fields[2]) : nil
    }
}
