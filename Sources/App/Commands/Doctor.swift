internal import ArgumentParser

/// `humon doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything around the service, a line each: what is wrong, and what to do.",
        discussion: """
            Settings, the database and its rights, disk, log, read models, the index of the server that HUMON_ADMIN_PORT names, \
            subscriptions, clock. Nothing is changed. What can be seen \
            quickly is seen: of the log the newest 100,000 positions; humon log verify reads all. A line is printed as soon as it is known, \
            and no check takes longer than 10 seconds. Exits with 2 when a line is bad.

            EXAMPLE: humon doctor
            EXAMPLE: humon doctor --json | grep -v '"state":"ok"'
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let screen = CheckScreen(options.output, names: DoctorReport.names)
        try await DoctorReport.run { check in
            try Task.checkCancellation()
            try screen.show(check)
        }
        try screen.end()
        if screen.isBad { throw NegativeResult() }
    }
}
