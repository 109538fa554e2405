internal import ArgumentParser
internal import EventStore

/// `humon streams list`
struct StreamsList: ReportCommand {
    static let report = OperatorReport.named("streams list")
    static let configuration: CommandConfiguration = describing(
        """
        The streams are sorted by the bytes of their names: event-10 comes before event-9. The command reads only the \
        streams of the page.

        EXAMPLE: humon streams list --category event --after event-12 --limit 20
        """)

    @Option(report["category"]) var category: String?
    @Option(report["after"]) var after: String?
    @Option(report["limit"]) var limit: String?
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { ["category": [category], "after": [after], "limit": [limit]] }
}
