internal import ArgumentParser
internal import Encoding

/// `humon settings`
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List the settings with the values in force and their sources.",
        discussion: """
            The sources are the environment, .env in the working directory, a file (of a secret, with the suffix _FILE), and the \
            default. The values of secrets are hidden. since is the release that brought the setting: an older one refuses to start \
            with it. Exits with 2 if a value is unusable or a name with the prefix HUMON_ is unknown.

            EXAMPLE: humon settings --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        var reader = try SettingReader.ofProcess()
        let rows: [JSONObject] = Settings(&reader).all.map { setting in
            let text = setting.text ?? (setting.source == nil ? "(unusable)" : "(hidden)")
            return [
                "name": .string(setting.name), "value": text.isEmpty ? .null : .string(text),
                "source": JSON(setting.source?.name), "default": .string(setting.documentedDefault),
                "since": .string(setting.since), "help": .string(setting.help),
            ]
        }
        try options.output.write(rows)
        let errors = reader.unknownNames + reader.errors
        guard errors.isEmpty else { throw NegativeResult(errors.map(\.description).joined(separator: " ")) }
    }
}
