internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections verify`
struct ProjectionsVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare read models with the log, row by row, while servers continue.",
        discussion: """
            Builds a second copy of each read model and compares it with the live one at one position of the log. Does not \
            change or lock the live read models, and does not check indexes. Servers on the same machine have priority. Exits \
            with 2 if a row differs, and names the row; `humon projections rebuild` repairs it.

            EXAMPLE: humon projections verify --all
            EXAMPLE: humon projections verify events --sample 100
            """
    )

    @OptionGroup var choice: ReadModelChoice
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions
    @OptionGroup var personal: RevealOptions

    @Option(help: "Check only one in this many streams, chosen at random. This does not find rows that belong to no stream.")
    var sample: Int64?

    @Option(help: "The maximum number of differing rows to print for each table.")
    var limit: Int64 = 20

    /// - Throws: `ValidationError`
    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("--sample must be 1 or more.") }
        if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() async throws {
        let output = options.output
        let progress = ShadowProgressBar(output)
        let comparisons = try await choice.tendingInBackground(database) { models in
            try await models.verify(sample: sample, limit: limit) { progress.show($0) }
        }
        var table = Table("name", "state", "position", "rows", "differing")
        for comparison in comparisons {
            table.append(
                .text(comparison.name), comparison.differing == 0 ? .state(.good, "equal") : .state(.bad, "differs"),
                .number(comparison.position), .count(comparison.rows), .count(comparison.differing))
        }
        try output.write(table)
        guard comparisons.contains(where: { $0.differing > 0 }) else { return }
        try output.say("")
        var differences = Table("name", "table", "key", "state", "found", "expected")
        for comparison in comparisons {
            for difference in comparison.differences { differences.rows.append(row(comparison.name, difference)) }
        }
        try output.write(differences)
        throw NegativeResult()
    }

    private func row(_ name: String, _ difference: Comparison.Difference) -> [Field] {
        let (found, expected) = (members(difference.found), members(difference.expected))
        let state = found.isEmpty ? "missing" : expected.isEmpty ? "extra" : "different"
        return [
            .text(name), .text(difference.table), .json(json(difference.key)), .state(.bad, state),
            shown(found.filter { !expected.contains($0) }, of: name),
            shown(expected.filter { !found.contains($0) }, of: name),
        ]
    }

    private func members(_ row: String?) -> [JSONObject.Member] {
        guard let row, case .object(let object) = json(row) else { return [] }
        return object.members
    }

    /// The columns that differ.
    private func shown(_ members: [JSONObject.Member], of name: String) -> Field {
        guard !members.isEmpty else { return .none }
        let projection = Backend.projections.first { type(of: $0).name == name }
        let hidden = personal.reveal ? [] : projection.map { type(of: $0).personalColumns } ?? []
        return .json(
            .object(
                JSONObject(
                    members: members.map { member in
                        let isHidden = hidden.contains(member.name) && member.value != .null
                        return .init(name: member.name, value: isHidden ? PersonalData.hidden : member.value)
                    })))
    }

    private func json(_ text: String) -> JSON { (try? JSON(utf8: Array(text.utf8))) ?? .string(text) }
}
