internal import ArgumentParser
internal import EventStore

/// `humon streams diff`
struct StreamsDiff: ReportCommand {
    static let report = OperatorReport.named("streams diff")
    static let configuration: CommandConfiguration = describing(
        """
        Prints a row for each member of the state whose value differs. Exits with 2 if the stream has no such version.

        EXAMPLE: humon streams diff event-12 3 5
        """)

    @Argument(report["stream"]) var stream: String
    @Argument(report["from"]) var from: String
    @Argument(report["to"]) var to: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] {
        ["stream": [stream], "from": [from], "to": [to], "reveal": [reveal ? "yes" : nil]]
    }
}
