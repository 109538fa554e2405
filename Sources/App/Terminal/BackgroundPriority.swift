internal import Foundation
internal import Postgres

/// The priority of a command that reads much and holds no lock: a server on the same machine gets the processors first.
///
/// Not for the process of a rebuild, because appends wait for a part of its work.
enum BackgroundPriority {
    /// The niceness of the units in deploy/systemd, too.
    static let niceness: Int32 = 10
    /// The niceness of PostgreSQL's processes for long statements, the highest one: docs/decisions/0066-libpq-threads.md
    static let statementNiceness: Int32 = 19

    /// Lowers the priority of all threads of this process. A failure leaves it as it is.
    static func take() {
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        // The process may have a lower priority already.
        let niceness = max(Self.niceness, getpriority(process, 0))
        // Each thread has a priority of its own, and passes it on to the threads that it starts.
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in threads { _ = id_t(thread).map { setpriority(process, $0, niceness) } }
    }
}

extension PostgresConfiguration {
    /// The same, with a low priority for the processes of PostgreSQL on this machine.
    var inBackground: PostgresConfiguration {
        var configuration = self
        configuration.niceness = BackgroundPriority.statementNiceness
        return configuration
    }
}
