internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log stats`
struct LogStatsCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count the recorded events by category and type.",
        discussion: """
            Reads the whole log with one statement, for at most ten minutes. The size counts data and metadata. The rate is the number of \
            events per day between the first and the last event. The last row is the sum.

            EXAMPLE: humon log stats --json
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        try query.show(
            try await LogStatistics.read(query.client).map {
                [
                    "category": .string($0.category), "type": .string($0.type), "events": JSON($0.events),
                    "bytes": JSON($0.bytes), "first_at": .time($0.firstAt), "last_at": .time($0.lastAt),
                    "per_day": .figure($0.perDay),
                ]
            })
        return .complete(ifEmpty: "The log is empty.")
    }
}
