internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Foundation

/// `humon log export`
struct LogExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the whole log to one compressed file.",
        discussion: """
            The file is one snapshot of the log; servers continue meanwhile, and on their machine they have priority. It contains \
            personal data, and only its owner can read it. docs/archive-format.md describes the format. The reader of a \
            pipe may pause for an hour.

            EXAMPLE: humon log export humon.log.zst
            EXAMPLE: humon log export - | ssh elsewhere humon log import --yes -
            """
    )

    @Argument(help: "The file to create; - for standard output.")
    var file: String

    @Flag(help: "Overwrite an existing file.")
    var force = false

    @OptionGroup var options: CommandOptions

    func run() async throws {
        guard file != "-" else { return try await exportToStandardOutput() }
        let summary = try await PrivateFile.write(at: file, isOverwriting: force) { try await export(to: $0) }
        try options.output.write([
            "file": .string(file), "recorded": JSON(summary.recordedEvents), "commands": JSON(summary.commands),
        ])
    }

    private func exportToStandardOutput() async throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw ValidationError("A compressed log is not for a terminal: name a file.")
        }
        do { _ = try await export(to: .standardOutput) } catch ZstandardError.readerClosed { throw OutputClosed() }
    }

    private func export(to file: FileHandle) async throws -> LogArchive.Summary {
        // The second connection finds the position of a gap while the first one holds the snapshot.
        try await options.database.reading(connections: 2) { client in
            let frame = ZstandardWriter(file)
            return try await withTaskCancellationHandler {
                let lines = ProgressLines()
                let summary = try await LogExport(client: client).write {
                    try frame.write($0)
                } progress: {
                    lines.show($0, of: $1)
                }
                try frame.finish()
                return summary
            } onCancel: {
                frame.cancel()
            }
        }
    }
}
