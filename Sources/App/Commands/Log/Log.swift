internal import ArgumentParser

/// `humon log`
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look into the log, everything that ever happened, in order; check it, and carry it elsewhere.",
        discussion: "EXAMPLE: humon log tail -f",
        subcommands: [
            LogTailCommand.self, LogShowCommand.self, LogSearchCommand.self, LogTraceCommand.self, LogStatsCommand.self,
            LogVerifyCommand.self, LogExportCommand.self, LogImportCommand.self,
        ]
    )
}
