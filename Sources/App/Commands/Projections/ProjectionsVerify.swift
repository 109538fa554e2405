internal import ArgumentParser
internal import Encoding
internal import EventStore

extension Projections {
    /// `humon projections verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replay the log and compare read models with it, row by row, while servers go on.",
            discussion: """
                Builds each read model anew beside the live one and compares the two at one position of the log. Nothing live is \
                changed or locked; indexes are not looked at. Exits with 2 when a row differs, and names it: \
                `humon projections rebuild` puts it right.

                EXAMPLE: humon projections verify --all
                EXAMPLE: humon projections verify events --sample 100
                """
        )

        @OptionGroup var choice: ReadModelChoice
        @OptionGroup var options: OutputOptions
        @OptionGroup var personal: RevealOptions

        @Option(help: "Look at one in so many streams, chosen by chance. Rows that no stream makes are not found then.")
        var sample: Int64?

        @Option(help: "How many differing rows to tell, of each table.")
        var limit: Int64 = 20

        func validate() throws {
            if let sample, sample < 1 { throw ValidationError("--sample must be 1 or more.") }
            if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
        }

        func run() async throws {
            let output = options.output
            let progress = ShadowProgressBar(output)
            let comparisons = try await choice.tending { models in
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
}
