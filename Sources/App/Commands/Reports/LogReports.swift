internal import ArgumentParser
internal import EventStore

/// `humon log tail`
struct LogTailCommand: ReportCommand {
    static let report = OperatorReport.named("log tail")
    static let configuration: CommandConfiguration = describing(
        """
        The events come in the order of the log. --since shows all events since that time; with -n only the last of them. -f ends with \
        Ctrl-C.

        EXAMPLE: humon log tail -f --category attendance
        """)

    @Flag(report["follow"], name: .shortAndLong) var follow: Bool
    @Option(report["limit"], name: [.customShort("n"), .long]) var limit: String?
    @Option(report["type"]) var type: String?
    @Option(report["category"]) var category: String?
    @Option(report["since"]) var since: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] {
        [
            "follow": follow ? "yes" : nil, "limit": limit, "type": type, "category": category, "since": since,
            "reveal": reveal ? "yes" : nil,
        ]
    }
}

/// `humon log show`
struct LogShowCommand: ReportCommand {
    static let report = OperatorReport.named("log show")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if the log has no such position.

        EXAMPLE: humon log show 1042
        """)

    @Argument(report["position"]) var position: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["position": position, "reveal": reveal ? "yes" : nil] }
}

/// `humon log search`
struct LogSearchCommand: ReportCommand {
    static let report = OperatorReport.named("log search")
    static let configuration: CommandConfiguration = describing(
        """
        A recorded event must match all options. Most searches use an index. A search by --text, alone or with only \
        --type, --category and --until, reads the data itself: at most --scan positions, then it prints the option that \
        continues the search. Exits with 2 if no event in the whole log matches.

        EXAMPLE: humon log search --category event --actor 7 --since 7d
        """)

    @Option(report["type"]) var type: String?
    @Option(report["category"]) var category: String?
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
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] {
        [
            "type": type, "category": category, "actor": actor, "request": request, "trace": trace, "since": since,
            "until": until, "text": text, "limit": limit, "before": before, "scan": scan, "reveal": reveal ? "yes" : nil,
        ]
    }
}

/// `humon log trace`
struct LogTraceCommand: ReportCommand {
    static let report = OperatorReport.named("log trace")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if it caused no event.

        EXAMPLE: humon log trace 0af7651916cd43dd8448eb211c80319c
        """)

    @Argument(report["id"]) var id: String
    @Option(report["before"]) var before: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["id": id, "before": before, "reveal": reveal ? "yes" : nil] }
}

/// `humon log stats`
struct LogStatsCommand: ReportCommand {
    static let report = OperatorReport.named("log stats")
    static let configuration: CommandConfiguration = describing(
        """
        Reads the whole log with one statement, for at most ten minutes. The size counts data and metadata. The rate is the number of \
        events per day between the first and the last event. The last row is the sum.

        EXAMPLE: humon log stats --json
        """)

    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { [:] }
}
