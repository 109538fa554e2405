internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres

/// Checks the newest part of the log, the rights on it, its lock, the stored formats, and the sequences.
struct LogChecks: Sendable {
    static let lockName = "log lock"
    /// An append holds the lock for milliseconds, and a cutover of a read model for less than a second.
    private static let lockPatienceSeconds = 2.0

    let client: PostgresClient

    /// - Throws: `PostgresError`
    func rights() async throws -> DoctorLine {
        let violations = try await LogRights.violations(
            client, readModels: Backend.projections.map { type(of: $0).schema })
        guard !violations.isEmpty else {
            let result = "the log is append-only; log_app and log_reader have their rights"
            guard try await LogRights.advisoryLocksAreOpen(client) else { return DoctorLine("grants", .ok, result) }
            return DoctorLine(
                "grants", .warn, "\(result); every role may take the locks of servers and rebuilds",
                hint: "Run humon migrate as a superuser once, or REVOKE EXECUTE on the functions pg_*advisory*lock* from PUBLIC.")
        }
        var hints: [String] = []
        for hint in violations.map({ $0.statement ?? "Run humon migrate." }) where !hints.contains(hint) { hints.append(hint) }
        return DoctorLine(
            "grants", .bad, violations.map(\.reason).joined(separator: "; "), hint: hints.joined(separator: " "))
    }

    /// - Throws: `PostgresError`
    func newest() async throws -> DoctorLine {
        let reader = LogReader(client: client)
        let verification = try await LogVerification(
            of: reader, decodedBy: Backend.domainEvents, newest: DoctorReport.newestPositions)
        let hint = "Run humon log verify, which looks at all of it; restore from a backup what is lost."
        if let first = verification.violations.first {
            let more = verification.violations.count - 1
            return DoctorLine("log", .bad, first.reason + (more > 0 ? "; \(more) more" : ""), hint: hint)
        }
        guard let newest = try await reader.newest() else { return DoctorLine("log", .ok, "nothing is recorded yet") }
        let looked = verification.start == 0 ? "all of it is" : "the newest \(Figure.grouped(verification.total)) are"
        return DoctorLine(
            "log", .ok,
            "at position \(Figure.grouped(verification.head)), recorded \(newest.envelope.recordedAt); \(looked) sound"
        )
    }

    /// Checks that no session keeps the others from appending, by the log's lock or by another one.
    /// - Throws: `PostgresError`
    func lock() async throws -> DoctorLine { Self.lock(try await LogLock(client: client).holders()) }

    static func lock(_ holders: [LogLock.Holder]) -> DoctorLine {
        guard let holder = holders.first(where: { $0.waitedSeconds > lockPatienceSeconds }) else {
            return DoctorLine(lockName, .ok, "no append waits for a lock")
        }
        let what = holder.holdsLogLock ? "held by" : "an append waits for"
        let client = [holder.role, holder.address].compactMap(\.self).joined(separator: " at ")
        let since = holder.beganAt.map { " since \($0)" } ?? ""
        let statement = holder.query.map { "; its statement is \($0)" } ?? ""
        let silence = holder.silentSince == nil ? "" : "; its client is silent"
        let waiting =
            switch holder.waiting {
            case 0: "the append waits"
            case 1: "1 session waits, the first"
            default: "\(holder.waiting) sessions wait, the first"
            }
        let session = "\(what) \(holder.name)\(client.isEmpty ? "" : " (\(client))")\(since)\(statement)\(silence)"
        return DoctorLine(
            lockName, .bad, "\(session); \(waiting) for \(Figure.duration(seconds: holder.waitedSeconds))",
            hint: "Look at that node: it may be frozen. An import or a rebuild ends by itself. To end the session: "
                + "SELECT pg_terminate_backend(\(holder.process));")
    }

    /// - Throws: `PostgresError`
    func formats() async throws -> DoctorLine {
        let programs = RunningPrograms(Backend.formats, client: client, logger: .humon(.critical))
        if let conflict = try await programs.conflict() {
            return DoctorLine("formats", .bad, conflict.problem, hint: conflict.hint)
        }
        let others = try await programs.servingCount()
        return DoctorLine(
            "formats", .ok,
            others == 0
                ? "no server of another version runs"
                : "this program and servers of \(others) other \(others == 1 ? "version" : "versions") read what each writes")
    }

    /// - Throws: `PostgresError`
    func sequences() async throws -> DoctorLine {
        let reader = LogReader(client: client)
        let start = max(0, try await reader.tail() - DoctorReport.newestPositions)
        let states = try await IDSequence.states(of: Backend.sequences, after: start, client: client)
        let behind = states.filter(\.isBehind)
        guard behind.isEmpty else {
            return DoctorLine(
                "sequences", .bad,
                behind.map { "\($0.sequence.name) is at \($0.last), but \($0.sequence.category)-\($0.largestUsed) is in use" }
                    .joined(separator: "; "),
                hint: behind.map { "SELECT setval('\($0.sequence.name)', \($0.largestUsed));" }.joined(separator: " "))
        }
        return DoctorLine(
            "sequences", .ok, states.map { "\($0.sequence.name) is at \(Figure.grouped($0.last))" }.joined(separator: ", "))
    }
}
