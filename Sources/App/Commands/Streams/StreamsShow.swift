internal import ArgumentParser
internal import EventStore

/// `humon streams show`
struct StreamsShow: ReportCommand {
    static let report = OperatorReport.named("streams show")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if the log has no such stream.

        EXAMPLE: humon streams show event-12 --reveal
        """)

    @Argument(report["stream"]) var stream: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { ["stream": [stream], "reveal": [reveal ? "yes" : nil]] }
}
