internal import ArgumentParser
internal import EventStore

/// A command that prints one table.
protocol TableCommand: SendableMetatype {
    static var columns: [ReportColumn] { get }
}

/// The columns and headings of a command's table.
struct TableOptions<Command: TableCommand>: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print only these columns, in this order: \(Self.names.joined(separator: ",")).", valueName: "a,b"),
        completion: .list(Self.names), transform: Self.parse)
    var columns: [String]?

    @Flag(help: "Print no headings above the columns.")
    var noHeaders = false

    private static var names: [String] { Command.columns.map(\.name) }

    /// - Throws: `ValidationError` for the name of a column that the table does not have
    private static func parse(_ text: String) throws -> [String] {
        let wanted = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        if let unknown = wanted.first(where: { !names.contains($0) }) {
            throw ValidationError(
                "There is no column \"\(harmless(unknown))\". The columns are: \(names.joined(separator: ", ")).")
        }
        return wanted
    }
}
