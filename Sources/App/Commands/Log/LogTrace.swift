internal import ArgumentParser
internal import EventStore

/// `humon log trace`
struct LogTrace: ReportCommand {
    static let report = OperatorReport.named("log trace")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if it caused no event.

        EXAMPLE: humon log trace 0af7651916cd43dd8448eb211c80319c
        """)

    @Argument(report["id"]) var id: String
    @Option(report["before"]) var before: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { ["id": [id], "before": [before], "reveal": [reveal ? "yes" : nil]] }
}
