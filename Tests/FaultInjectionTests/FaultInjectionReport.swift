import Foundation

/// What a run found, and how much it did.
struct FaultInjectionReport: Sendable {
    var schedule: FaultInjectionSchedule
    var clients = ClientsRecord()
    var log: [LogRow] = []
    var followed: [Int64]?
    /// Of a server's memory with the read model.
    var comparisons = 0
    var violations: [Violation] = []
    var injected: [Fault] = []
    var seconds = 0.0

    /// A table for people.
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
            ("  never answered", "\(commands.count { $0.fate == .unknown })"),
            ("requests of the clients", "\(clients.requests)"),
            ("  sent again after an answer", "\(clients.repeated)"),
            ("reads of what was written", "\(clients.readings.count)"),
            ("comparisons of a index", "\(comparisons)"),
            ("positions in the log", "\(log.count)"),
            ("longest wait for an answer", "\(clients.longestWait)"),
            ("seconds", "\(Int(seconds))"),
            ("violations", "\(violations.count)"),
        ]
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { $0.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $1 }.joined(separator: "\n")
    }
}
