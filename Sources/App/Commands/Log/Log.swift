internal import ArgumentParser

/// `humon log`
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read, search, verify, export and import the log.",
        discussion: "EXAMPLE: humon log tail -f",
        subcommands: [
            LogTailCommand.self, LogShowCommand.self, LogSearchCommand.self, LogTraceCommand.self, LogStatsCommand.self,
            LogVerifyCommand.self, LogExportCommand.self, LogImportCommand.self,
        ]
    )
}
