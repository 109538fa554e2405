internal import ArgumentParser

/// `humon settings`
struct ShowSettings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings, with their defaults.",
        discussion: """
            Their values are not shown: some are secrets.

            EXAMPLE: humon settings --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() throws {
        let rows = Settings.Keys.all.map { [Field.text($0.name), .text($0.help), .text($0.shownDefault)] }
        try options.output.write(Table("name", "help", "default", rows: rows))
    }
}
