internal import ArgumentParser
internal import Foundation

/// The format of a command's result. Every command that prints a result has this option.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line: times in UTC, durations in seconds, sizes in bytes.")
    var json = false

    /// To standard output. Only a terminal that obeys escape sequences gets colours, and only if `NO_COLOR` is not set
    /// (https://no-color.org).
    var output: Output {
        let isColoured =
            Terminal.obeysEscapes(STDOUT_FILENO) && ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty != false
        return Output(format: json ? .json : .text(isColoured: isColoured), write: StandardOutput.write)
    }
}

/// The options of a command that uses the database and prints a result.
struct CommandOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var format: OutputOptions

    var output: Output { format.output }
}
