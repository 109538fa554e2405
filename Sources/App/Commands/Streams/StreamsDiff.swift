internal import ArgumentParser
internal import Encoding
internal import EventStore

extension Streams {
    /// `humon streams diff`
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what changed between two versions of a thing.",
            discussion: """
                A row for every member of the data whose value differs. Exits with 2 when the stream has no such version.

                EXAMPLE: humon streams diff event-12 3 5
                """
        )

        @OptionGroup var stream: StreamArgument

        @Argument(help: "The version to start from.")
        var from: Int32

        @Argument(help: "The version to compare with.")
        var to: Int32

        @OptionGroup var personal: RevealOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await options.reading { client, output in
                let recorded = try await stream.recorded(by: LogReader(client: client))
                let changes = StreamState.changes(
                    from: try stream.state(at: from, of: recorded), to: try stream.state(at: to, of: recorded))
                let table = Table(
                    "member", "old", "new",
                    rows: changes.map { [.text($0.name), shown($0.name, $0.old), shown($0.name, $0.new)] })
                try output.write(table, whenEmpty: "Nothing differs between versions \(from) and \(to) of \(stream.stream).")
            }
        }

        private func shown(_ name: String, _ value: JSON?) -> Field {
            guard let value else { return .none }
            let member = JSON.object(JSONObject(members: [JSONObject.Member(name: name, value: value)]))
            let category = StreamName(stream.stream).category
            return personal.personalData.shown(member, category: category)[name].map { .json($0) } ?? .none
        }
    }
}
