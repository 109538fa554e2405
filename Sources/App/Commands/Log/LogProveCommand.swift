internal import ArgumentParser
internal import Transparency

/// `humon log prove`
struct LogProveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove",
        abstract: "Print a proof that the log has a recorded event.",
        discussion: """
            The proof is a file of the format C2SP tlog-proof. It has the envelope of the recorded event and digests of its content, no \
            personal data. humon proof verify checks it without a database. Exits with 2 if the newest checkpoint does not cover the \
            position.

            EXAMPLE: humon log prove 42 > proof.txt
            """
    )

    @Argument(help: "The position, from 1.", transform: Parameter.fromOne)
    var position: Int64

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        guard let proof = try await database.reading({ [position] in try await LogTree(client: $0).proof(of: position) }) else {
            throw NegativeResult("The newest checkpoint does not cover position \(position).")
        }
        try StandardOutput.write(lines: proof.bytes)
    }
}
