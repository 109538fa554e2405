internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the whole log with this program, and say what it cannot read.",
        discussion: """
            To be run with a new program before it is deployed. Nothing is changed. Exits with 1 when something cannot be read, or
            when the log has a hole.

            EXAMPLE: humon doctor
            """
    )

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let examination = try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            try await withPostgres(database.asApplication(connections: 2), logger: logger) { client in
                let reader = LogReader(client: client)
                var bar = ProgressBar(total: try await reader.tail())
                return try await LogExamination(of: reader, decodedBy: Backend.domainEvents) { bar.show($0) }
            }
        }
        print("\(examination.total) recorded events, without a hole")
        for (kind, count) in examination.counts.sorted(by: {
            ($0.key.category, $0.key.type, $0.key.format) < ($1.key.category, $1.key.type, $1.key.format)
        }) {
            print("  \(kind.type) of category \(kind.category), format \(kind.format): \(count)")
        }
        guard !examination.faults.isEmpty else { return print("This program reads them all.") }
        print("This program cannot read:")
        for fault in examination.faults {
            print(
                """
                  \(fault.count) × \(fault.kind.type) of category \(fault.kind.category), format \(fault.kind.format), \
                the first at position \(fault.firstPosition): \(fault.reason)
                """
            )
        }
        throw ExitCode(1)
    }
}
