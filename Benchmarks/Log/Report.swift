/// All results as one Markdown table, and the ratios beside their targets.
struct Report: Sendable {
    /// The measurements in the order of the table.
    enum Subject: String, CaseIterable {
        case log = "the log alone"
        case projectedLog = "the log with all projections"
        case updates = "the same, every second event an update"
        case underSnapshot = "all projections, a snapshot open for minutes"
        case afterSnapshot = "the same log, that snapshot closed"
        case oneTransactionEach = "(a) one transaction per command, same lock"
        case singleRows = "(b) pgbench, single rows, the log's keys"
        case bareRows = "(b′) pgbench, single rows, bare table"
        case fiftyRows = "(c) pgbench, 50 rows by unnest"
        case copyIn = "(d) COPY FROM, 500,000 rows"
        case small = "the log alone at 10,000 events"
        case smallUpdates = "at 10,000, every second an update"
        case large = "at full size, analysed"
        case largeUpdates = "at full size, analysed, every second an update"
        case largeUnanalysed = "at full size, no ANALYZE"
        case largeFromEmpty = "the same, plans from the empty log"
        case largeUpdatesFromEmpty = "the same, and every second an update"
    }

    let conditions: String
    var reading: Reading.Result?
    var subscriptions: SubscriptionTimes.Result?
    private var measurements: [Subject: [Measurement]] = [:]

    init(conditions: String) { self.conditions = conditions }

    /// Keeps the fastest of several measurements with the same number of clients.
    mutating func add(_ subject: Subject, _ measurement: Measurement) {
        var all = measurements[subject, default: []]
        let earlier = all.firstIndex { $0.clients == measurement.clients }
        switch earlier {
        case let index? where all[index].perSecond < measurement.perSecond: all[index] = measurement
        case _?: break
        case nil: all.append(measurement)
        }
        measurements[subject] = all
    }

    var text: String {
        let heads = [
            "", "concurrent", "events a second", "p50, ms", "p99, ms", "events a commit", "waiting for fsync", "CPU of humon",
        ]
        let rows = Subject.allCases.flatMap { subject in
            (measurements[subject] ?? []).map { measurement in
                [
                    subject.rawValue, String(measurement.clients), measurement.perSecond.rounded(decimals: 0),
                    measurement.p50Milliseconds.rounded(decimals: 2), measurement.p99Milliseconds.rounded(decimals: 2),
                    measurement.perTransaction.rounded(decimals: 1), measurement.syncShare.percent,
                    measurement.programCPU.percent,
                ]
            }
        }
        return [conditions, table(heads, rows), readingText, subscriptionsText, ratios].compactMap { $0 }.joined(
            separator: "\n\n")
    }

    private var readingText: String? {
        reading.map { reading in
            let rows = [
                ("replay of the log through decode", reading.replay), ("COPY TO STDOUT, text", reading.copyText),
                ("COPY TO STDOUT, binary", reading.copyBinary),
            ].map { name, rate in
                [name, rate.rounded(decimals: 0), (rate * Double(BenchmarkEvent.bytes) / 1e6).rounded(decimals: 0)]
            }
            return table(["reading \(reading.events) events", "events a second", "MB of events a second"], rows)
        }
    }

    private var subscriptionsText: String? {
        subscriptions.map { subscriptions in
            let rows = [
                ("a subscription of the same process has an append", subscriptions.sameProcess),
                ("a subscription of another process has it, after a NOTIFY", subscriptions.otherProcess),
                ("the next leader has its first event after an orderly stop", subscriptions.afterStop),
                ("the next leader has its first event after a kill -9", subscriptions.afterKill),
            ].map { name, milliseconds in
                let sorted = milliseconds.sorted()
                return [
                    name, sorted[sorted.count / 2].rounded(decimals: 2), (sorted.last ?? 0).rounded(decimals: 2),
                ]
            }
            return table(["milliseconds until …", "median", "longest"], rows)
        }
    }

    private var ratios: String {
        let reference = LogBenchmark.reference
        let plain = measurements[.singleRows]?.map(\.perSecond).max()
        let small = rate(.small, reference)
        let rows: [(String, Double?, String)] = [
            ("log alone at \(reference) / (b) at its best", rate(.log, reference) / plain, "≥ 2.5"),
            ("log with all projections at \(reference) / (b) at its best", rate(.projectedLog, reference) / plain, "≥ 1"),
            ("p50 of one command alone / of (b) with one client", p50(.log, 1) / p50(.singleRows, 1), "≤ 2"),
            ("under an open snapshot / after it", rate(.underSnapshot, reference) / rate(.afterSnapshot, reference), "≥ 0.9"),
            ("speed at full size / at 10,000 events", rate(.large, reference) / small, "about 1"),
            ("the same without ANALYZE", rate(.largeUnanalysed, reference) / small, "about 1"),
            ("the same, plans from the empty log", rate(.largeFromEmpty, reference) / small, "about 1"),
            ("the same with updates", rate(.largeUpdatesFromEmpty, reference) / rate(.smallUpdates, reference), "about 1"),
            ("replay / COPY TO STDOUT, text", reading.map { $0.replay / $0.copyText }, "≥ 0.5"),
        ]
        return table(["", "ratio", "target"], rows.map { [$0, $1.rounded(decimals: 2), $2] })
    }

    private func measured(_ subject: Subject, _ clients: Int) -> Measurement? {
        measurements[subject]?.first { $0.clients == clients }
    }

    private func rate(_ subject: Subject, _ clients: Int) -> Double? { measured(subject, clients)?.perSecond }

    private func p50(_ subject: Subject, _ clients: Int) -> Double? { measured(subject, clients)?.p50Milliseconds }

    /// An aligned table, with words to the left and figures to the right.
    private func table(_ heads: [String], _ rows: [[String]]) -> String {
        let widths = heads.indices.map { column in ([heads] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([heads] + rows).map { cells in
            cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: " | ")
        }
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width + 2) : String(repeating: "-", count: width + 1) + ":"
        }
        return (["| \(lines[0]) |", "|\(rule.joined(separator: "|"))|"] + lines.dropFirst().map { "| \($0) |" })
            .joined(separator: "\n")
    }
}

private func / (left: Double?, right: Double?) -> Double? {
    guard let left, let right else { return nil }
    return left / right
}

extension Double {
    fileprivate func rounded(decimals: Int) -> String {
        let scale = [1.0, 10, 100][decimals]
        let text = String((self * scale).rounded() / scale)
        let parts = text.split(separator: ".")
        guard decimals > 0, parts.count == 2 else { return String(parts[0]) }
        return parts[0] + "." + parts[1] + String(repeating: "0", count: decimals - parts[1].count)
    }
}

extension Double? {
    fileprivate func rounded(decimals: Int) -> String { self?.rounded(decimals: decimals) ?? "" }
    fileprivate var percent: String { map { ($0 * 100).rounded(decimals: 0) + " %" } ?? "" }
}
