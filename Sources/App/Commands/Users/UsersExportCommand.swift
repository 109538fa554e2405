internal import ArgumentParser
internal import EventStore
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
        do {
            try await database.reading { client in
                let export = PersonalExport(of: Modules.registered, from: client)
                try await export.write(try await export.streams(of: user.stream), at: Dependencies.system.now()) { lines in
                    for line in lines { try StandardOutput.write(harmless(line) + "\n") }
                }
            }
        } catch is UnknownPersonError {
            throw NegativeResult("No user has the id \(id).")
        }
    }
}
