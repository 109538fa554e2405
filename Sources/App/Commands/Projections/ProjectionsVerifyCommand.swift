internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections verify`
struct ProjectionsVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare read models with the log, row by row, while servers continue.",
        discussion: """
            Builds a second copy of each read model and compares it with the live one at one position of the log. Does not \
            change or lock the live read models, and does not check indexes. Servers on the same machine have priority. Exits \
            with 2 if a row differs, and names the row; `humon projections rebuild` repairs it.

            EXAMPLE: humon projections verify --all
            EXAMPLE: humon projections verify events
            """
    )

    @OptionGroup var choice: ReadModelChoice
    @OptionGroup var options: CommandOptions
    @OptionGroup var personal: RevealOption

    @Option(
        help: "The maximum number of differing rows to print for each table. Default: 20.",
        transform: Parameter.number(0...(.max)))
    var limit: Int64 = 20

    func run() async throws {
        let output = options.output
        let progress = ProgressLines()
        let comparisons = try await choice.tending(options.database, inBackground: true) { models in
            try await models.verify(limit: limit) { progress.show($0, output) }
        }
        try output.write(
            comparisons.map {
                [
                    "name": .string($0.name), "state": $0.differing == 0 ? "equal" : "differs", "position": JSON($0.position),
                    "rows": JSON($0.rows), "differing": JSON($0.differing),
                ]
            })
        guard comparisons.contains(where: { $0.differing > 0 }) else { return }
        try output.say("")
        try output.write(
            comparisons.flatMap { comparison in comparison.differences.map { row(of: $0, in: comparison.name) } })
        throw NegativeResult()
    }

    /// A row of a read model that differs, with the columns that differ.
    private func row(of difference: Comparison.Difference, in name: String) -> JSONObject {
        let (found, expected) = (Self.members(difference.found), Self.members(difference.expected))
        let projection = Backend.projections.first { type(of: $0).name == name }
        let hidden = personal.reveal ? [] : projection.map { type(of: $0).personalColumns } ?? []
        return [
            "name": .string(name), "table": .string(difference.table), "key": JSON(readable: Array(difference.key.utf8)),
            "state": found.isEmpty ? "missing" : expected.isEmpty ? "extra" : "different",
            "found": Self.shown(found.filter { !expected.contains($0) }, without: hidden),
            "expected": Self.shown(expected.filter { !found.contains($0) }, without: hidden),
        ]
    }

    private static func members(_ row: String?) -> [JSONObject.Member] {
        guard let row, case .object(let object) = JSON(readable: Array(row.utf8)) else { return [] }
        return object.members
    }

    private static func shown(_ members: [JSONObject.Member], without hidden: Set<String>) -> JSON {
        guard !members.isEmpty else { return .null }
        return .object(
            JSONObject(
                members: members.map { member in
                    let isHidden = hidden.contains(member.name) && member.value != .null
                    return .init(name: member.name, value: isHidden ? Redaction.hidden : member.value)
                }))
    }
}
