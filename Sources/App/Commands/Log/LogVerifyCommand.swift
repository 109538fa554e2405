internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Transparency

/// `humon log verify`
struct LogVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read the whole log with this program, and list the violations.",
        discussion: """
            Checks that positions and versions have no gaps, that ids are unique, and that this program decodes every event. Checks \
            that commands have their events, and that the sequences are beyond all ids in use. Changes nothing. Servers continue \
            meanwhile, and on their machine they have priority. Run it with a new program before you deploy it. Exits with 2 if it \
            finds violations. It also computes the Merkle tree over the log \
            and compares it with the stored one, and with --against with another checkpoint. As JSON it prints an object for \
            each check, for each kind of recorded event, and for each violation.

            EXAMPLE: humon log verify
            """
    )

    @Option(help: ArgumentHelp("A checkpoint that somebody outside kept; - for standard input.", valueName: "file"))
    var against: String?

    @Option(help: "The verifier key of that checkpoint, as humon log checkpoint --key prints it.")
    var key: String?

    @OptionGroup var options: CommandOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard (against == nil) == (key == nil) else { throw ValidationError("--against and --key need each other.") }
    }

    func run() async throws {
        let output = options.output
        let checkpoint = try checkpoint()
        let verification = try await options.database.reading(connections: 2) { client in
            let reader = LogReader(client: client)
            let (bar, tail) = (ProgressBar(), try await reader.tail())
            var verification = try await LogVerification(of: reader, decodedBy: Backend.domainEvents) { bar.show($0, of: tail) }
            bar.stop()
            try await verification.examineTables(client, sequences: Backend.sequences) { check in
                output.step("Comparing the tables: \(check.rawValue)")
            }
            return verification
        }
        let trees = try await options.database.reading { client in
            let tree = LogTree(client: client)
            var rows: [JSONObject] = []
            if let checkpoint { rows.append(Self.row("checkpoint", checkpoint, try await Self.difference(to: checkpoint, tree))) }
            if let row = try await Self.rowOfStoredTree(tree) { rows.append(row) }
            return rows
        }
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

    /// - Returns: `nil` if no server has kept a tree over the log
    private static func rowOfStoredTree(_ tree: LogTree) async throws -> JSONObject? {
        let checkpoint: Checkpoint
        do {
            guard let note = try await tree.newest() else { return nil }
            checkpoint = try Checkpoint(unverified: note)
        } catch let error as ProofError {
            return row("tree", nil, "the stored checkpoint cannot be read: \(error)")
        }
        return row("tree", checkpoint, try await difference(to: checkpoint, tree, comparesTiles: true))
    }

    private static func row(_ name: String, _ checkpoint: Checkpoint?, _ difference: String?) -> JSONObject {
        let size = Figure.grouped(checkpoint?.size ?? 0)
        return [
            "check": .string(name), "state": .string(difference == nil ? "ok" : "bad"),
            "result": .string(difference ?? "the log begins with its \(size) recorded events"),
        ]
    }

    /// Computes the root of the log's first entries from the log alone.
    /// - Parameter comparesTiles: whether the stored tiles must have the hashes of the entries
    /// - Returns: what differs from the checkpoint; `nil` if nothing does
    private static func difference(
        to checkpoint: Checkpoint, _ tree: LogTree, comparesTiles: Bool = false
    ) async throws -> String? {
        let bar = ProgressBar("entries")
        defer { bar.stop() }
        var growth = TreeGrowth()
        do {
            while growth.size < checkpoint.size {
                let computed = try await tree.extend(&growth, to: checkpoint.size)
                let stored = comparesTiles ? try await tree.hashes(of: computed.map(\.tile)) : [:]
                // A stored tile may have more, of later entries.
                let wrong = computed.first { tile, hashes in
                    let place = Tile(level: tile.level ?? 0, index: tile.index)
                    return stored[place]?.starts(with: hashes) != true
                }
                if comparesTiles, let wrong {
                    return "the stored tile \(wrong.tile.path) was changed, or the recorded events below it"
                }
                bar.show(growth.size, of: checkpoint.size)
            }
        } catch let error as LogGapError {
            return "the log lacks the recorded event behind position \(error.after)"
        } catch let error as BrokenTree {
            return error.reason
        }
        let size = Figure.grouped(checkpoint.size)
        return growth.root == checkpoint.root ? nil : "one of the log's first \(size) recorded events was changed"
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
