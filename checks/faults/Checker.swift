import Foundation

/// The guarantees that hold under every fault.
enum Check: String, Sendable, CaseIterable {
    case acknowledgedOnce = "every acknowledged command is in the log exactly once, in the stream that its response named"
    case refusedNever = "no refused command is in the log"
    case unknownAtMostOnce = "a command without a response is in the log at most once"
    case nothingElse = "every recorded event was sent by a client"
    case positions = "positions are contiguous from 1"
    case versions = "the versions of every stream are contiguous from 1"
    case readModels = "every read model equals a replay of the log"
    case index = "every server's index is in use and equals the read model"
    case changes = "a list and its changes, across broken connections, equal the list at the end"
    case readings = "a read that sends back the position of a write shows it"
    case subscription = "the subscription saw every position once and in order"
    case repetition = "a repeated command gets the first response"
    case gone = "only a cancelled event is gone"
    case responses = "every response is the expected one or a 503"
    case restore = "a restored log equals the dumped one"
    case snapshot = "no row is updated by every append while a snapshot is open"
    case recovery = "every server responds again after every fault"
}

struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
    var check: Check
    var sentence: String
    var description: String { "\(sentence) (\(check.rawValue))" }
}

/// Compares the clients' records with the log. A pure function, so that tests can pass it violations.
struct Checker {
    /// Maximum number of violations reported for each check.
    static let reportLimit = 10

    var clients: [CommandRecord]
    var readings: [ReadingRecord] = []
    var log: [LogRow]
    /// The positions in the order in which the subscription handled them; nil if none ran.
    var handled: [Int64]?

    func violations() -> [Violation] {
        let found = commandViolations() + nothingElse() + positions() + versions() + readingViolations() + gone() + subscription()
        return Check.allCases.flatMap { check in found.filter { $0.check == check }.prefix(Self.reportLimit) }
    }

    private func commandViolations() -> [Violation] {
        var rows: [String: [LogRow]] = [:]
        for row in log { for mark in row.marks { rows[mark, default: []].append(row) } }
        let commands = Dictionary(grouping: clients, by: \.mark).sorted { $0.key < $1.key }
        return commands.flatMap { mark, records in violations(of: records, in: rows[mark] ?? []) }
    }

    private func violations(of records: [CommandRecord], in rows: [LogRow]) -> [Violation] {
        let name = records[0].name
        let found = rows.isEmpty ? "nowhere" : "at positions \(rows.map { String($0.position) }.joined(separator: ", "))"
        let acknowledged = records.filter { $0.fate == .acknowledged }
        guard !acknowledged.isEmpty else {
            if records.contains(where: { $0.fate == .unknown }) {
                return rows.count <= 1 ? [] : [Violation(check: .unknownAtMostOnce, sentence: "\(name) is \(found)")]
            }
            guard !rows.isEmpty else { return [] }
            return [
                Violation(check: .refusedNever, sentence: "\(name) was refused with \(statuses(of: records)) and is \(found)")
            ]
        }
        guard rows.count == 1, let row = rows.first else {
            return [Violation(check: .acknowledgedOnce, sentence: "\(name) was acknowledged and is \(found)")]
        }
        return acknowledged.filter { $0.type != row.type || $0.stream != row.stream }.map { record in
            let wanted = "\(record.type) in \(record.stream ?? "no stream")"
            return Violation(
                check: .acknowledgedOnce, sentence: "\(name) is \(row.type) in \(row.stream) \(found), not \(wanted)")
        }
    }

    private func statuses(of records: [CommandRecord]) -> String {
        records.compactMap { if case .refused(let status) = $0.fate { String(status) } else { nil } }.joined(separator: ", ")
    }

    private func nothingElse() -> [Violation] {
        let sent = Set(clients.map(\.mark))
        return log.filter { $0.marks.isDisjoint(with: sent) }.map { row in
            Violation(
                check: .nothingElse,
                sentence: "no client sent the event at position \(row.position), \(row.type) in \(row.stream)")
        }
    }

    private func positions() -> [Violation] {
        zip(log, Int64(1)...).filter { $0.position != $1 }.prefix(1).map { row, expected in
            Violation(check: .positions, sentence: "the log has position \(row.position) instead of \(expected)")
        }
    }

    private func versions() -> [Violation] {
        var reached: [String: Int32] = [:]
        return log.compactMap { row in
            let expected = reached[row.stream, default: 0] + 1
            reached[row.stream] = row.version
            guard row.version != expected else { return nil }
            return Violation(
                check: .versions,
                sentence: "\(row.stream) has version \(row.version) at position \(row.position) instead of version \(expected)")
        }
    }

    private func readingViolations() -> [Violation] {
        let rows = Dictionary(log.map { ($0.position, $0) }) { first, _ in first }
        return readings.compactMap { reading in
            let written = rows[reading.position].flatMap { $0.stream == reading.stream ? $0.version : nil }
            guard let written else {
                return Violation(
                    check: .readings,
                    sentence: "the response to \(reading.name) named position \(reading.position), which holds another event")
            }
            guard !reading.isGone else { return nil }
            let shown = reading.version ?? 0
            guard shown < written else { return nil }
            return Violation(
                check: .readings,
                sentence:
                    "\(reading.name) is version \(written), and a read at least at position \(reading.position) showed version \(shown)"
            )
        }
    }

    /// Commands and reads that got 410.
    private func gone() -> [Violation] {
        let cancelled = Set(log.filter { $0.type == "EventCancelled" }.map(\.stream))
        let commands = clients.filter { $0.fate == .refused(status: 410) }.map { (name: $0.name, stream: $0.event) }
        let reads = readings.filter(\.isGone).map { (name: $0.name, stream: Optional($0.stream)) }
        return (commands + reads).compactMap { name, stream in
            guard let stream, !cancelled.contains(stream) else { return nil }
            return Violation(check: .gone, sentence: "\(name) got 410, and \(stream) is not cancelled in the log")
        }
    }

    private func subscription() -> [Violation] {
        guard let handled else { return [] }
        var expected = log.makeIterator()
        for (index, position) in handled.enumerated() {
            let next = expected.next()?.position
            guard position == next else {
                let wanted = next.map(String.init) ?? "nothing more"
                return [
                    Violation(
                        check: .subscription, sentence: "the subscription saw \(position) as number \(index + 1), not \(wanted)")
                ]
            }
        }
        guard let missed = expected.next() else { return [] }
        return [Violation(check: .subscription, sentence: "the subscription never saw \(missed.position)")]
    }
}
