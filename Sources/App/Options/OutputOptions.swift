internal import ArgumentParser
internal import Foundation

/// The format of a command's result. Every command that prints a result has these options.
struct OutputOptions: ParsableArguments {
    /// When to use colours.
    enum Colors: String, ExpressibleByArgument, CaseIterable {
        case always
        case never
        case auto

        /// In the mode `auto`, only a terminal that obeys escape sequences gets colours, and only if `NO_COLOR` is not set
        /// (https://no-color.org).
        func areWanted(on terminal: Terminal, environment: [String: String]) -> Bool {
            switch self {
            case .always: true
            case .never: false
            case .auto: terminal.obeysEscapes && environment["NO_COLOR"]?.isEmpty != false
            }
        }
    }

    @Flag(help: "Print one JSON object per line: times in UTC, durations in seconds, sizes in bytes.")
    var json = false

    @Flag(help: "Show times in this machine's time zone; JSON stays in UTC.")
    var local = false

    @Option(
        help: ArgumentHelp(
            "Use colours always, never, or (auto) on a terminal unless NO_COLOR is set or TERM is dumb.", valueName: "when"))
    var color = Colors.auto

    /// To standard output.
    var output: Output {
        let isColoured = color.areWanted(on: .output, environment: ProcessInfo.processInfo.environment)
        return Output(
            format: json ? .json : .text(isColoured: isColoured), zone: local ? .current : .gmt, width: Terminal.output.width,
            write: StandardOutput.write)
    }

    /// The same for the columns and headings that the user wants.
    func output<Command>(_ table: TableOptions<Command>) -> Output {
        var output = output
        output.columns = table.columns
        output.hasHeadings = !table.noHeaders
        return output
    }
}

/// An option of the commands that print personal data.
struct RevealOptions: ParsableArguments {
    @Flag(help: "Show personal data: addresses, places, devices.")
    var reveal = false
}
