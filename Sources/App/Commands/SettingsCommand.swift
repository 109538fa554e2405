internal import ArgumentParser
internal import Encoding

/// `humon settings`
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings with the values in force and their sources.",
        discussion: """
            The sources are the environment, .env in the working directory, a file (of a setting with the suffix _FILE), and the \
            default. The values of secrets are hidden. Exits with 2 if a value is unusable or a name with the prefix HUMON_ is \
            unknown.

            EXAMPLE: humon settings --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let sources = try SettingSources()
        var errors = Settings.unknown(among: sources.names).map { SettingsError.unknown(name: $0) }
        var rows: [JSONObject] = []
        for setting in Settings.Declarations.all {
            var resolved: (any ResolvedSetting)?
            do throws(SettingsError) { resolved = try setting.resolve(from: sources) } catch { errors.append(error) }
            let text = resolved.map { $0.text ?? "(hidden)" } ?? "(unusable)"
            rows.append([
                "name": .string(setting.name), "value": text.isEmpty ? .null : .string(text),
                "source": JSON(resolved?.source.rawValue), "default": .string(setting.documentedDefault),
                "help": .string(setting.help),
            ])
        }
        try options.output.write(rows)
        guard errors.isEmpty else { throw NegativeResult(errors.map(\.description).joined(separator: " ")) }
    }
}
