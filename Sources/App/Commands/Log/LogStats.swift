internal import ArgumentParser
internal import EventStore

/// `humon log stats`
struct LogStats: ReportCommand {
    static let report = OperatorReport.named("log stats")
    static let configuration: CommandConfiguration = describing(
        """
        Reads the whole log, in short pages. The size counts data and metadata. The rate is the number of events per day \
        between the first and the last event. The last row is the sum.

        EXAMPLE: humon log stats --json
        """)

    @OptionGroup var options: ReportOptions<Self>

    var arguments: [String: [String?]] { [:] }
}
