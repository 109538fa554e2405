internal import ArgumentParser
internal import Transparency

/// `humon log checkpoint`
struct LogCheckpointCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract: "Print the newest signed checkpoint of the log, for somebody outside who keeps it.",
        discussion: """
            A server with HUMON_TREE_KEY signs one every five seconds while the log grows. It states the number of recorded events and the root of \
            a Merkle tree over them; docs/trust.md says what that proves. Exits with 2 if there is none.

            EXAMPLE: humon log checkpoint > checkpoint.txt
            """
    )

    @Flag(help: "Print the verifier key of HUMON_TREE_KEY instead.")
    var key = false

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        if key {
            guard let signingKey = try database.settings().treeSigningKey() else {
                throw ValidationError("HUMON_TREE_KEY is not set.")
            }
            return try StandardOutput.write("\(signingKey.verifierKey)\n")
        }
        guard let note = try await database.reading({ try await LogTree(client: $0).newest() }) else {
            throw NegativeResult("The log has no checkpoint: no server with HUMON_TREE_KEY has followed it.")
        }
        try StandardOutput.write(lines: note.bytes)
    }
}
