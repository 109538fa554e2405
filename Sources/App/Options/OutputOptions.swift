internal import ArgumentParser

/// The format of a command's result. Every command that prints a result has this option.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line: times in UTC, durations in seconds, sizes in bytes.")
    var json = false

    /// To standard output.
    var output: Output { Output(format: json ? .json : .text, write: StandardOutput.write) }
}

/// The options of a command that uses the database and prints a result.
struct CommandOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var format: OutputOptions

    var output: Output { format.output }
}
