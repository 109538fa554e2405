internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log verify`
struct LogVerifyCommand: AsyncParsableCommand {
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

    @OptionGroup var options: CommandOptions

    func run() async throws {
        let output = options.output
        let verification = try await options.database.reading(connections: 2) { client in
            let reader = LogReader(client: client)
            let (progress, tail) = (ProgressLines(), try await reader.tail())
            var verification = try await LogVerification(of: reader, decodedBy: Backend.domainEvents) {
                progress.show($0, of: tail)
            }
            try await verification.examineTables(client, sequences: Backend.sequences) { check in
                output.step("Comparing the tables: \(check.rawValue)")
            }
            return verification
        }
        try output.write(verification.rowsOfChecks)
        try output.say("")
        try output.write(verification.rowsOfKinds, whenEmpty: "The log is empty.")
        guard !verification.violations.isEmpty else { return }
        try output.say("")
        try output.write(verification.rowsOfViolations)
        if verification.omittedViolations > 0 {
            output.note("And \(Figure.grouped(verification.omittedViolations)) more violations.")
        }
        throw NegativeResult()
    }
}

extension LogVerification {
    fileprivate var rowsOfChecks: [JSONObject] {
        let counts = violations.reduce(into: [:]) { $0[$1.check, default: 0] += $1.count }
        return Check.allCases.map { check in
            let violations = counts[check].map { "\(Figure.grouped($0)) \($0 == 1 ? "violation" : "violations")" }
            return [
                "check": .string(check.rawValue), "state": .string(violations == nil ? "ok" : "bad"),
                "result": .string(violations ?? soundness(of: check)),
            ]
        }
    }

    private func soundness(of check: Check) -> String {
        switch check {
        case .positions: "contiguous up to \(Figure.grouped(head))"
        case .events: "\(Figure.grouped(total)), all of which this program reads"
        case .head: "as many rows as positions"
        case .versions: "contiguous in every stream, in the order of positions"
        case .ids: "each recorded once"
        case .personal: "apart from the facts, and missing after an erasure only"
        case .commands: "each answered by a recorded event"
        case .sequences: "beyond every number in use"
        }
    }

    fileprivate var rowsOfKinds: [JSONObject] {
        counts.sorted { ($0.key.category, $0.key.type, $0.key.format) < ($1.key.category, $1.key.type, $1.key.format) }
            .map { kind, count in
                [
                    "category": .string(kind.category), "type": .string(kind.type), "format": JSON(kind.format),
                    "count": JSON(count),
                ]
            }
    }

    fileprivate var rowsOfViolations: [JSONObject] {
        violations.map {
            [
                "violation": .string($0.check.rawValue), "count": JSON($0.count), "first_position": .integer($0.firstPosition),
                "type": JSON($0.kind?.type), "format": .integer($0.kind.map { Int64($0.format) }),
                "reason": .string($0.reason),
            ]
        }
    }
}
