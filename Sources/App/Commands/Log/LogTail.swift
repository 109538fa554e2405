internal import ArgumentParser
internal import EventStore

/// `humon log tail`
struct LogTail: ReportCommand {
    static let report = OperatorReport.named("log tail")
    static let configuration: CommandConfiguration = describing(
        """
        The events come in the order of the log. --since shows all events since that time; with -n only the last of them. -f ends with \
        Ctrl-C.

        EXAMPLE: humon log tail -f --category attendance
        """)

    @Flag(report["follow"], name: .shortAndLong) var follow: Bool
    @Option(report["limit"], name: [.customShort("n"), .long]) var limit: String?
    @Option(report["type"]) var types: [String]
    @Option(report["category"]) var categories: [String]
    @Option(report["since"]) var since: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] {
        [
            "follow": [follow ? "yes" : nil], "limit": [limit], "type": types, "category": categories, "since": [since],
            "reveal": [reveal ? "yes" : nil],
        ]
    }
}
