internal import ArgumentParser
internal import EventStore
internal import Postgres
internal import Users

/// `humon users export`
struct UsersExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print everything that is stored of a user, as one JSON object.",
        discussion: """
            It has the recorded events of all streams of the user, with personal data, one on a line; the records of idempotency keys; \
            and the user's parked streams. Exits with 2 if no user has this id.

            EXAMPLE: humon users export 7 > user-7.json
            """
    )

    @Argument(help: "The user's id.", transform: Parameter.fromOne)
    var id: Int64

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let user = UserID(rawValue: id)
        try await database.export(unknown: "No user has the id \(id).") { _ in user.stream }
    }
}

extension DatabaseOptions {
    /// Prints everything that is stored of a person.
    /// - Parameters:
    ///   - unknown: the sentence for a person who does not exist
    ///   - find: finds the person's own stream
    /// - Throws: ``NegativeResult`` for a person who does not exist, the errors of the database and of `find`
    func export(unknown: String, _ find: @Sendable (PostgresClient) async throws -> StreamName) async throws {
        do {
            try await reading(connections: 1) { client in
                let export = PersonalExport(of: StoredModule.all, from: client)
                let streams = try await export.streams(of: try await find(client))
                try await export.write(streams, at: Dependencies.system.now()) { lines in
                    for line in lines { try StandardOutput.write(harmless(line) + "\n") }
                }
            }
        } catch is UnknownPersonError {
            throw NegativeResult(unknown)
        }
    }
}
