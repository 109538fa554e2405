internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon log tail`
struct LogTail: AsyncParsableCommand, TableCommand {
    static let columns = RecordedEvent.columns

    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the last recorded events, and with -f new events as they come.",
        discussion: """
            The events come in the order of the log. --since shows all events since that time; with -n only the last of them.

            EXAMPLE: humon log tail -f --category attendance
            """
    )

    @Flag(name: .shortAndLong, help: "Continue with new events until Ctrl-C.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long], help: "The maximum number of events. (default: 20, without --since)",
        transform: LimitArgument.parse)
    var limit: Int?

    @OptionGroup var kinds: FilterOptions

    @Option(help: "Only events recorded at or after this time: \(TimeArgument.help)", transform: TimeArgument.parse)
    var since: Timestamp?

    @OptionGroup var options: ReadingOptions<Self>

    func run() async throws {
        // One of the connections listens.
        try await options.reading(connections: 2) { client, output in
            let reader = LogReader(client: client)
            let tail = try await reader.tail()
            var rows = output.rows(RecordedEvent.columns)
            var position = tail
            if limit != nil || since == nil {
                let search = EventStore.LogSearch(client: client, criteria: LogCriteria(filter: kinds.filter, since: since))
                let found = try await search.find(before: tail + 1, limit: limit ?? 20)
                try rows.write(found.events.reversed().map { $0.row(showing: options.personalData) })
            } else if let since {
                position = try await reader.position(before: since)
            }
            guard follow || position < tail else { return }
            try await watching(client) { notifier in
                for try await page in EventStore.LogTail(
                    client: client, notifier: notifier, after: position, filter: kinds.filter)
                {
                    // A closed pipe shows only in a write, and an empty page writes nothing.
                    if page.events.isEmpty { try StandardOutput.checkReader() }
                    let wanted = page.events.filter { event in since.map { event.envelope.recordedAt >= $0 } ?? true }
                    try rows.write(wanted.map { $0.row(showing: options.personalData) })
                    if !follow, page.through >= tail { return }
                }
            }
        }
    }

    /// Runs a notifier of the log while the body runs.
    private func watching(_ client: PostgresClient, _ body: (LogNotifier) async throws -> Void) async throws {
        let notifier = LogNotifier(client: client, listens: follow, logger: .humon(.notice))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notifier.run() }
            defer { group.cancelAll() }
            try await body(notifier)
        }
    }
}
