internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Notation
internal import Postgres

/// `humon stream`
struct Stream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the recorded events of a stream, one JSON object a line.")

    @Argument(help: "The stream: user-1, event-12, attendance-12-1.")
    var name: String

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let stream = StreamName(name)
        let recorded = try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            try await withPostgres(database.asApplication(connections: 1), logger: logger) { client in
                try await LogReader(client: client).read(stream: stream)
            }
        }
        guard !recorded.isEmpty else { throw NoStream(name: name) }
        for event in recorded { print(event.json.text) }
    }
}

private struct NoStream: Error, CustomStringConvertible {
    var name: String
    var description: String { "There is no stream \(name)." }
}
