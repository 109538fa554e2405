internal import ArgumentParser

/// `humon settings`
struct ShowSettings: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "settings", abstract: "List the settings, with their defaults.")

    func run() {
        for setting in Settings.Keys.all {
            print("\(setting.name)\n    \(setting.sentence)\n    Default: \(setting.shownDefault)")
        }
    }
}
