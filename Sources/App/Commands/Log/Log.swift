internal import ArgumentParser

/// `humon log`
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the log, and carry it elsewhere.",
        subcommands: [VerifyLog.self, ExportLog.self, ImportLog.self]
    )
}
