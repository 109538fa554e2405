internal import ArgumentParser
internal import EventStore

/// `humon streams state`
struct StreamsState: ReportCommand {
    static let report = OperatorReport.named("streams state")
    static let configuration: CommandConfiguration = describing(
        """
        The state has the last value of each member of the data. It tells whether an event is cancelled or hidden, a task \
        completed or deleted, and a user attending. Exits with 2 if the stream did not exist.

        EXAMPLE: humon streams state event-12 --at 2h
        """)

    @Argument(report["stream"]) var stream: String
    @Option(report["version"]) var version: String?
    @Option(report["at"]) var at: String?
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions<Self>

    /// - Throws: `ValidationError`
    func validate() throws {
        guard version == nil || at == nil else { throw ValidationError("Give --version or --at, not both.") }
        _ = try checked()
    }

    var arguments: [String: [String?]] {
        ["stream": [stream], "version": [version], "at": [at], "reveal": [reveal ? "yes" : nil]]
    }
}
