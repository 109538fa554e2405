internal import ArgumentParser
internal import EventStore

/// `humon log show`
struct LogShow: ReportCommand {
    static let report = OperatorReport.named("log show")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if the log has no such position.

        EXAMPLE: humon log show 1042
        """)

    @Argument(report["position"]) var position: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { ["position": [position], "reveal": [reveal ? "yes" : nil]] }
}
