internal import ArgumentParser
internal import Transparency

/// `humon proof verify`
struct ProofVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a proof without a database, and print the entry that it proves.",
        discussion: """
            The entry has the envelope of a recorded event and digests of its content. Exits with 2 if the proof does not hold.

            EXAMPLE: humon proof verify proof.txt --key KEY
            """
    )

    @Argument(help: "The file from humon log prove; - for standard input.")
    var file: String

    @Option(help: "The verifier key of the log, as humon log checkpoint --key prints it.")
    var key: String

    @OptionGroup var options: OutputOptions

    func run() throws {
        let (key, bytes) = try (VerifierKey(argument: key), InputFile.read(file, limit: ProofFile.maximumBytes))
        let (proof, checkpoint): (ProofFile, Checkpoint)
        do throws(ProofError) {
            proof = try ProofFile(bytes)
            checkpoint = try proof.verify(with: key)
        } catch {
            throw NegativeResult("The proof does not hold: \(error).")
        }
        options.output.note(
            "The log \(checkpoint.origin) has this entry at position \(proof.index + 1) of \(checkpoint.size):")
        try StandardOutput.write(lines: proof.entry + [UInt8(ascii: "\n")])
    }
}

extension VerifierKey {
    /// - Throws: `ValidationError`
    init(argument: String) throws {
        do { try self.init(argument) } catch { throw ValidationError("--key: \(error).") }
    }
}
