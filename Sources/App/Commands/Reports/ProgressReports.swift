internal import ArgumentParser
internal import EventStore

/// `humon projections list`
struct ProjectionsListCommand: ReportCommand {
    static let report = OperatorReport.named("projections list")
    static let configuration: CommandConfiguration = describing(
        """
        States: ready; behind (a server catches up by \
        itself); missing, or ahead of the log (`humon projections rebuild` repairs both); kept (for a rollback); building; \
        interrupted (the next rebuild continues it); other version.

        EXAMPLE: humon projections list --json
        """)

    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { [:] }
}

/// `humon subscriptions list`
struct SubscriptionsListCommand: ReportCommand {
    static let report = OperatorReport.named("subscriptions list")
    static let configuration: CommandConfiguration = describing(
        """
        The lag is a number of positions of the log. A subscription without a lease runs on no server.

        EXAMPLE: humon subscriptions list
        """)

    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { [:] }
}

/// `humon subscriptions parked`
struct SubscriptionsParkedCommand: ReportCommand {
    static let report = OperatorReport.named("subscriptions parked")
    static let configuration: CommandConfiguration = describing(
        """
        A subscription parks a stream at the first event that it fails to handle, and continues with the other streams. Exits with 2 \
        if the subscription never ran.

        EXAMPLE: humon subscriptions parked feed
        """)

    @Argument(report["name"]) var name: String
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["name": name] }
}
