internal import ArgumentParser
internal import EventStore

/// `humon subscriptions parked`
struct SubscriptionsParked: ReportCommand {
    static let report = OperatorReport.named("subscriptions parked")
    static let configuration: CommandConfiguration = describing(
        """
        A subscription parks a stream at the first event that it fails to handle, and continues with the other streams. Exits with 2 \
        if the subscription never ran.

        EXAMPLE: humon subscriptions parked feed
        """)

    @Argument(report["name"]) var name: String
    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { ["name": [name]] }
}
