internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon streams diff`
struct StreamsDiff: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = ["member", "old", "new"]

    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show the changes between two versions of a stream.",
        discussion: """
            Prints a row for each member of the state whose value differs. Exits with 2 if the stream has no such version.

            EXAMPLE: humon streams diff event-12 3 5
            """
    )

    @OptionGroup var stream: StreamArgument

    @Argument(help: "The version to start from.")
    var from: Int32

    @Argument(help: "The version to compare with.")
    var to: Int32

    @OptionGroup var options: ReadingOptions<Self>

    func run() async throws {
        try await options.reading { client, output in
            let recorded = try await stream.recorded(by: LogReader(client: client))
            let changes = StreamState.changes(
                from: try stream.state(at: from, of: recorded), to: try stream.state(at: to, of: recorded))
            let found = Table(
                columns: Self.columns,
                rows: changes.map { [.text($0.name), shown($0.name, $0.old), shown($0.name, $0.new)] })
            try output.write(found, whenEmpty: "\(stream.stream) has the same state at the versions \(from) and \(to).")
        }
    }

    private func shown(_ name: String, _ value: JSON?) -> Field {
        guard let value else { return .none }
        let member = JSON.object(JSONObject(members: [JSONObject.Member(name: name, value: value)]))
        let category = StreamName(stream.stream).category
        return options.personalData.shown(member, category: category)[name].map { .json($0) } ?? .none
    }
}
