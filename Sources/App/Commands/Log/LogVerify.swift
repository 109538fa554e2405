internal import ArgumentParser
internal import EventStore

/// `humon log verify`
struct LogVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read the whole log with this program, and list the violations.",
        discussion: """
            Checks that positions and versions have no gaps, that ids are unique, and that this program decodes every event. Checks \
            that commands have their events, and that the sequences are beyond all ids in use. Changes nothing. Servers continue \
            meanwhile, and on their machine they have priority. Run it with a new program before you deploy it. Exits with 2 if it \
            finds violations. As JSON it prints an object for each check, for each kind of recorded event, and for each violation.

            EXAMPLE: humon log verify
            """
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let (verification, output) = try await database.reading(options.output, connections: 2) { client, output in
            let reader = LogReader(client: client)
            var bar = ProgressBar(total: try await reader.tail())
            var verification = try await LogVerification(of: reader, decodedBy: Backend.domainEvents) { bar.show($0) }
            bar.stop()
            try await verification.examineTables(client, sequences: Backend.sequences) { check in
                output.step("Comparing the tables: \(check.rawValue)")
            }
            return (verification, output)
        }
        try output.write(verification.checks)
        try output.say("")
        try output.write(verification.kinds, whenEmpty: "The log is empty.")
        guard !verification.violations.isEmpty else { return }
        try output.say("")
        try output.write(verification.faultTable)
        if verification.omittedViolations > 0 {
            output.note("And \(Field.grouped(verification.omittedViolations)) more violations.")
        }
        throw NegativeResult()
    }
}

extension LogVerification {
    fileprivate var checks: Table {
        Table(
            "check", "state", "result",
            rows: Check.allCases.map { check in
                let count = violations.reduce(0) { $1.check == check ? $0 + $1.count : $0 }
                return count == 0
                    ? [.text(check.rawValue), .state(.good, "ok"), .text(soundness(of: check))]
                    : [
                        .text(check.rawValue), .state(.bad, "bad"),
                        .text("\(Field.grouped(count)) \(count == 1 ? "violation" : "violations")"),
                    ]
            }
        )
    }

    private func soundness(of check: Check) -> String {
        switch check {
        case .positions: "contiguous up to \(Field.grouped(head))"
        case .events: "\(Field.grouped(total)), all of which this program reads"
        case .head: "as many rows as positions"
        case .versions: "contiguous in every stream, in the order of positions"
        case .ids: "each recorded once"
        case .commands: "each answered by a recorded event"
        case .sequences: "beyond every number in use"
        }
    }

    fileprivate var kinds: Table {
        let sorted = counts.sorted {
            ($0.key.category, $0.key.type, $0.key.format) < ($1.key.category, $1.key.type, $1.key.format)
        }
        return Table(
            "category", "type", "format", "count",
            rows: sorted.map { kind, count in [.text(kind.category), .text(kind.type), .number(kind.format), .count(count)] }
        )
    }

    fileprivate var faultTable: Table {
        Table(
            "violation", "count", "first_position", "type", "format", "reason",
            rows: violations.map { violation in
                [
                    .text(violation.check.rawValue), .count(violation.count),
                    violation.firstPosition.map { .number($0) } ?? .none,
                    .text(violation.kind?.type), violation.kind.map { .number($0.format) } ?? .none, .text(violation.reason),
                ]
            }
        )
    }
}
