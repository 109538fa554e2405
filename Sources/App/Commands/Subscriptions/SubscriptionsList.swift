internal import ArgumentParser
internal import EventStore

/// `humon subscriptions list`
struct SubscriptionsList: ReportCommand {
    static let report = OperatorReport.named("subscriptions list")
    static let configuration: CommandConfiguration = describing(
        """
        The lag is a number of positions of the log. A subscription without a lease runs on no server.

        EXAMPLE: humon subscriptions list
        """)

    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { [:] }
}
