internal import ArgumentParser
internal import EventStore

/// `humon projections list`
struct ProjectionsList: ReportCommand {
    static let report = OperatorReport.named("projections list")
    static let configuration: CommandConfiguration = describing(
        """
        The number of rows of a large read model is PostgreSQL's estimate. States: ready; behind (a server catches up by \
        itself); missing, or ahead of the log (`humon projections rebuild` repairs both); kept (for a rollback); building; \
        interrupted (the next rebuild continues it); other version.

        EXAMPLE: humon projections list --json
        """)

    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { [:] }
}
