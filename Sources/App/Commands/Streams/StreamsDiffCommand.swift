internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon streams diff`
struct StreamsDiffCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the changes between two versions of a stream.",
        discussion: """
            Prints a row for each member of the state whose value differs. Exits with 2 if the stream has no such version.

            EXAMPLE: humon streams diff event-12 3 5
            """)

    @OptionGroup var stream: StreamArgument
    @Argument(help: "The version to start from.", transform: Parameter.version)
    var from: Int64
    @Argument(help: "The version to compare with.", transform: Parameter.version)
    var to: Int64
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let recorded = try await stream.read(query)
        guard !recorded.isEmpty else { return stream.noStream }
        guard let older = recorded.upTo(version: from), let newer = recorded.upTo(version: to) else {
            return stream.noVersion(in: recorded)
        }
        let old = try older.state(decodedBy: Backend.domainEvents)
        let new = try newer.state(decodedBy: Backend.domainEvents)
        let (redaction, name) = (personal.redaction, stream.name)
        func value(_ member: String, _ value: JSON?) -> JSON {
            guard let value else { return .null }
            return redaction.shown([member: value], category: name.category)[member] ?? .null
        }
        try query.show(
            old.changes(to: new).map { member, old, new in
                ["member": .string(member), "old": value(member, old), "new": value(member, new)]
            })
        return .complete(ifEmpty: "\(name) has the same state at the versions \(from) and \(to).")
    }
}
