import Foundation

/// The violations that a run found, and its counts.
struct FaultInjectionReport: Sendable {
    var schedule: FaultInjectionSchedule
    var clients = ClientsRecord()
    var log: [LogRow] = []
    var handled: [Int64]?
    /// The number of comparisons of a server's index with the read model.
    var comparisons = 0
    /// The changes that subscribers got, and how often they had to read their list again.
    var changes = 0
    var resets = 0
    var violations: [Violation] = []
    var injected: [Fault] = []
    var seconds = 0.0

    /// The counts as a table.
    var figures: String {
        let commands = clients.commands
        var lines: [(String, String)] = [
            ("seed", "\(schedule.seed)"), ("faults", "\(injected.count) of \(schedule.faults.count)"),
            ("servers killed", "\(injected.reduce(0) { $0 + $1.kills.servers })"),
            ("PostgreSQL killed", "\(injected.reduce(0) { $0 + $1.kills.postgres })"),
        ]
        lines += Dictionary(grouping: injected, by: \.kind).map { ("  " + $0, "\($1.count)") }.sorted { $0.0 < $1.0 }
        lines += [
            ("commands", "\(commands.count)"),
            ("  acknowledged", "\(commands.count { $0.fate == .acknowledged })"),
            (
                "  refused",
                "\(commands.count { if case .refused = $0.fate { true } else { false } })"
            ),
            ("  without a response", "\(commands.count { $0.fate == .unknown })"),
            ("requests by clients", "\(clients.requests)"),
            ("  repeated after a response", "\(clients.repeated)"),
            ("reads after a write", "\(clients.readings.count)"),
            ("index comparisons", "\(comparisons)"),
            ("changes that subscribers got", "\(changes)"),
            ("  resets", "\(resets)"),
            ("positions in the log", "\(log.count)"),
            ("longest wait for a response", "\(clients.longestWait)"),
            ("seconds", "\(Int(seconds))"),
            ("violations", "\(violations.count)"),
        ]
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { $0.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $1 }.joined(separator: "\n")
    }
}
