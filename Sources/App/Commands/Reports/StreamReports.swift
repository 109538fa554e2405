internal import ArgumentParser
internal import EventStore

/// `humon streams list`
struct StreamsListCommand: ReportCommand {
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
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["category": category, "after": after, "limit": limit] }
}

/// `humon streams show`
struct StreamsShowCommand: ReportCommand {
    static let report = OperatorReport.named("streams show")
    static let configuration: CommandConfiguration = describing(
        """
        Exits with 2 if the log has no such stream.

        EXAMPLE: humon streams show event-12 --reveal
        """)

    @Argument(report["stream"]) var stream: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["stream": stream, "reveal": reveal ? "yes" : nil] }
}

/// `humon streams state`
struct StreamsStateCommand: ReportCommand {
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
    @OptionGroup var options: ReportOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard version == nil || at == nil else { throw ValidationError("Give --version or --at, not both.") }
        _ = try checked()
    }

    var arguments: [String: String?] {
        ["stream": stream, "version": version, "at": at, "reveal": reveal ? "yes" : nil]
    }
}

/// `humon streams diff`
struct StreamsDiffCommand: ReportCommand {
    static let report = OperatorReport.named("streams diff")
    static let configuration: CommandConfiguration = describing(
        """
        Prints a row for each member of the state whose value differs. Exits with 2 if the stream has no such version.

        EXAMPLE: humon streams diff event-12 3 5
        """)

    @Argument(report["stream"]) var stream: String
    @Argument(report["from"]) var from: String
    @Argument(report["to"]) var to: String
    @Flag(report["reveal"]) var reveal: Bool
    @OptionGroup var options: ReportOptions

    var arguments: [String: String?] { ["stream": stream, "from": from, "to": to, "reveal": reveal ? "yes" : nil] }
}
