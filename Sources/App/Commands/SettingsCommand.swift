internal import ArgumentParser

/// `humon settings`
struct SettingsCommand: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = ["name", "value", "source", Column("default", yields: true), Column("help", yields: true)]

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
        let sources = try await SettingSources()
        var errors = Settings.unknown(among: sources.names).map { SettingsError.unknown(name: $0) }
        var found = Table(columns: Self.columns)
        for setting in Settings.Declarations.all {
            var (value, source): (Field, Field) = (.state(.bad, "(unusable)"), .none)
            do throws(SettingsError) {
                let resolved = try setting.resolve(from: sources)
                (value, source) = (Self.shown(resolved), .text(resolved.source.rawValue))
            } catch {
                errors.append(error)
            }
            found.append(.text(setting.name), value, source, .text(setting.documentedDefault), .text(setting.help))
        }
        try options.output(table).write(found)
        guard errors.isEmpty else { throw NegativeResult(errors.map(\.description).joined(separator: " ")) }
    }

    private static func shown(_ setting: any ResolvedSetting) -> Field {
        guard let text = setting.text else { return .text("(hidden)") }
        return text.isEmpty ? .none : .text(text)
    }
}
