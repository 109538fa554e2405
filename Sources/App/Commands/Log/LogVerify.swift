internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Transparency

/// `humon log verify`
struct LogVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read the whole log with this program, and list the violations.",
        discussion: """
            Checks that positions and versions have no gaps, that ids are unique, and that this program decodes every event. Checks \
            that commands have their events, and that the sequences are beyond all ids in use. Changes nothing. Servers continue \
            meanwhile, and on their machine they have priority. Run it with a new program before you deploy it. Exits with 2 if it \
            finds violations. It also computes the root of the newest stored checkpoint from the log, and with --against that of another one. As JSON it prints an object for \
            each check, for each kind of recorded event, and for each violation.

            EXAMPLE: humon log verify
            """
    )

    @Option(help: ArgumentHelp("A checkpoint that somebody outside kept; - for standard input.", valueName: "file"))
    var against: String?

    @Option(help: "The verifier key of that checkpoint, as humon log checkpoint --key prints it.")
    var key: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard (against == nil) == (key == nil) else { throw ValidationError("--against and --key need each other.") }
    }

    func run() async throws {
        let output = options.output
        let checkpoint = try checkpoint()
        let verification = try await database.reading(connections: 2) { client in
            let reader = LogReader(client: client)
            let (bar, tail) = (ProgressBar(), try await reader.tail())
            var verification = try await LogVerification(of: reader, decodedBy: Backend.domainEvents) { bar.show($0, of: tail) }
            bar.stop()
            try await verification.examineTables(client, sequences: Backend.sequences) { check in
                output.step("Comparing the tables: \(check.rawValue)")
            }
            return verification
        }
        let trees = try await compare(with: checkpoint)
        try output.write(verification.rowsOfChecks + trees)
        try output.say("")
        try output.write(verification.rowsOfKinds, whenEmpty: "The log is empty.")
        guard !verification.violations.isEmpty else {
            if trees.contains(where: { $0["state"] == "bad" }) { throw NegativeResult() }
            return
        }
        try output.say("")
        try output.write(verification.rowsOfViolations)
        if verification.omittedViolations > 0 {
            output.note("And \(Figure.grouped(verification.omittedViolations)) more violations.")
        }
        throw NegativeResult()
    }

    /// - Throws: `NegativeResult` if the checkpoint does not hold
    private func checkpoint() throws -> Checkpoint? {
        guard let against, let key else { return nil }
        let verifierKey = try VerifierKey(argument: key)
        let bytes = try InputFile.read(against, limit: SignedNote.maximumBytes)
        do { return try Checkpoint(SignedNote(bytes), signedBy: verifierKey) } catch {
            throw NegativeResult("The checkpoint does not hold: \(error).")
        }
    }

    /// Computes roots of the log's first entries from the log alone, and compares them with the checkpoint and the newest stored one.
    /// - Returns: a row for each of the two that is there
    private func compare(with kept: Checkpoint?) async throws -> [JSONObject] {
        try await database.reading { client in
            let tree = LogTree(client: client)
            var checkpoints = kept.map { [("checkpoint", $0)] } ?? []
            if let note = try await tree.newest() { checkpoints.append(("tree", try Checkpoint(unverified: note))) }
            var (growth, rows) = (TreeGrowth(), [JSONObject]())
            for (name, checkpoint) in checkpoints.sorted(by: { $0.1.size < $1.1.size }) {
                let difference = try await difference(to: checkpoint, of: tree, &growth)
                rows.append([
                    "check": .string(name), "state": .string(difference == nil ? "ok" : "bad"),
                    "result": .string(difference ?? "the log begins with its \(checkpoint.size) recorded events"),
                ])
            }
            return rows
        }
    }

    private func difference(
        to checkpoint: Checkpoint, of tree: LogTree, _ growth: inout TreeGrowth
    ) async throws -> String? {
        let bar = ProgressBar("entries")
        defer { bar.stop() }
        do {
            while growth.size < checkpoint.size {
                _ = try await tree.extend(&growth, to: checkpoint.size)
                bar.show(growth.size, of: checkpoint.size)
            }
        } catch let error as LogGapError {
            return "the log lacks the recorded event behind position \(error.after)"
        } catch let error as BrokenTree {
            return error.reason
        }
        return growth.root == checkpoint.root ? nil : "one of the log's first \(checkpoint.size) recorded events was changed"
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
        case .personal: "apart from the facts, with their digest, and missing after an erasure only"
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
