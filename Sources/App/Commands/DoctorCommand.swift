internal import ArgumentParser
internal import EventStore

/// `humon doctor`
struct DoctorCommand: AsyncParsableCommand, TableCommand {
    static let columns = CheckScreen.table.map(\.column)

    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the service and its environment; print a line for each check, and hints for the problems.",
        discussion: """
            Checks the settings, the database with its rights, disk, log and its lock, read models, the index of the server on \
            HUMON_ADMIN_PORT, subscriptions and clock. Changes nothing. It reads only the newest 100,000 positions of the log; humon log verify reads \
            all. Prints each line as soon as its check ends; a check takes at most 10 seconds. Exits with 2 if a check is bad.

            EXAMPLE: humon doctor
            EXAMPLE: humon doctor --json | grep -v '"state":"ok"'
            """
    )

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let screen = CheckScreen(options.output(table))
        try await DoctorReport.run(database) { check in
            try Task.checkCancellation()
            try screen.show(check)
        }
        try screen.end()
        if screen.isBad { throw NegativeResult() }
    }
}
