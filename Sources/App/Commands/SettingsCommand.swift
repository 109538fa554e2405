internal import ArgumentParser
internal import EventStore

/// `humon settings`
struct SettingsCommand: AsyncParsableCommand, TableCommand {
    private struct Row: Sendable {
        var setting: any SettingDeclaration
        /// `nil` if the value is unusable.
        var resolved: (any ResolvedSetting)?
    }

    private static let table: [RowColumn<Row>] = [
        .text("name") { $0.setting.name },
        .text("value") { row in
            guard let resolved = row.resolved else { return "(unusable)" }
            guard let text = resolved.text else { return "(hidden)" }
            return text.isEmpty ? nil : text
        },
        .text("source") { $0.resolved?.source.rawValue }, .text("default", .side) { $0.setting.documentedDefault },
        .text("help", .side) { $0.setting.help },
    ]
    static let columns = table.map(\.column)

    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings with the values in force and their sources.",
        discussion: """
            The sources are the environment, .env in the working directory, a file (of a setting with the suffix _FILE), and the \
            default. The values of secrets are hidden. Exits with 2 if a value is unusable or a name with the prefix HUMON_ is \
            unknown.

            EXAMPLE: humon settings --columns name,value,source
            """
    )

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let sources = try SettingSources()
        var errors = Settings.unknown(among: sources.names).map { SettingsError.unknown(name: $0) }
        var rows: [Row] = []
        for setting in Settings.Declarations.all {
            var row = Row(setting: setting)
            do throws(SettingsError) { row.resolved = try setting.resolve(from: sources) } catch { errors.append(error) }
            rows.append(row)
        }
        try options.output(table).write(rows, Self.table)
        guard errors.isEmpty else { throw NegativeResult(errors.map(\.description).joined(separator: " ")) }
    }
}
