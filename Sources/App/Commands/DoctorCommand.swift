internal import ArgumentParser
internal import Encoding
internal import Synchronization

/// `humon doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the service and its environment; print a line for each check, and hints for the problems.",
        discussion: """
            Checks the settings, the database with its rights, disk, WAL archive, log and its lock, read models, the index of the \
            server on HUMON_ADMIN_PORT, subscriptions and clock. Changes nothing. It reads only the newest 100,000 positions of the \
            log; humon log verify reads all. Prints each line as soon as its check ends; a check takes at most 10 seconds. Exits with \
            2 if a check is bad.

            EXAMPLE: humon doctor
            EXAMPLE: humon doctor --json | grep -v '"state":"ok"'
            """
    )

    @OptionGroup var options: CommandOptions

    func run() async throws {
        let output = options.output
        let table = Table(
            output, omitting: ["hint"], leastWidths: ["check": DoctorReport.names.map(\.count).max() ?? 0])
        let shown = Mutex<[DoctorLine]>([])
        // Each line is printed as soon as its check ends, so that a slow check does not delay earlier lines.
        try await DoctorReport.run(options.database) { check in
            try Task.checkCancellation()
            try table.write([
                [
                    "check": .string(check.name), "state": .string(check.state.rawValue), "result": .string(check.result),
                    "hint": JSON(check.hint),
                ]
            ])
            shown.withLock { $0.append(check) }
        }
        let checks = shown.withLock(\.self)
        let hints = checks.filter { $0.hint != nil }.map { JSONObject.Member(name: $0.name, value: JSON($0.hint)) }
        if output.format != .json, !hints.isEmpty {
            try output.say("")
            try output.write(JSONObject(members: hints))
        }
        if checks.contains(where: { $0.state == .bad }) { throw NegativeResult() }
    }
}
