internal import ArgumentParser
internal import EventStore
internal import Foundation

/// How a command says what it found. Every command that looks has these.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object a line: times in UTC, durations in seconds, sizes in bytes.")
    var json = false

    @Flag(help: "Show times in this machine's zone; JSON stays in UTC.")
    var local = false

    /// To standard output; coloured only on a terminal, and not where `NO_COLOR` is set (https://no-color.org).
    var output: Output {
        let wantsNoColour = ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
        return Output(
            format: json ? .json : .text(isColoured: isatty(STDOUT_FILENO) == 1 && !wantsNoColour),
            zone: local ? .current : .gmt,
            write: StandardOutput.write
        )
    }
}

/// Of the commands that print what people gave us.
struct RevealOptions: ParsableArguments {
    @Flag(help: "Show personal data: addresses, places, devices.")
    var reveal = false

    /// What may be shown of stored data.
    var personalData: PersonalData { PersonalData(of: Backend.domainEvents, isRevealed: reveal) }
}
