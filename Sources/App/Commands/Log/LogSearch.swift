internal import ArgumentParser
internal import EventStore

/// `humon log search`
struct LogSearch: ReportCommand {
    static let report = OperatorReport.named("log search")
    static let configuration: CommandConfiguration = describing(
        """
        A recorded event must match all options. Most searches use an index. A search by --text, alone or with only \
        types, categories and --until, reads the data itself: at most --scan positions, then it prints the option that \
        continues the search. Exits with 2 if no event in the whole log matches.

        EXAMPLE: humon log search --category event --actor 7 --since 7d
        """)

    @Option(report["type"]) var types: [String]
    @Option(report["category"]) var categories: [String]
    @Option(report["actor"]) var actor: String?
    @Option(report["request"]) var request: String?
    @Option(report["trace"]) var trace: String?
    @Option(report["since"]) var since: String?
    @Option(report["until"]) var until: String?
    @Option(report["text"]) var text: String?
    @Option(report["limit"]) var limit: String?
    @Option(report["before"]) var before: String?
    @Option(report["scan"]) var scan: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] {
        [
            "type": types, "category": categories, "actor": [actor], "request": [request], "trace": [trace], "since": [since],
            "until": [until], "text": [text], "limit": [limit], "before": [before], "scan": [scan],
            "reveal": [reveal ? "yes" : nil],
        ]
    }
}
