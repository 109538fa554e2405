internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections list`
struct ProjectionsListCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the read models with their state, lag and size.",
        discussion: """
            States: ready; behind (a server catches up by \
            itself); missing, or ahead of the log (`humon projections rebuild` repairs both); replaced (dropped when no transaction \
            reads it); building; interrupted (the next rebuild continues it); other version.

            EXAMPLE: humon projections list --json
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let models = ReadModels(projections: Backend.projections, client: query.client, logger: query.logger)
        try query.show(
            try await models.list().map {
                [
                    "name": .string($0.name), "version": JSON($0.version), "schema": .string($0.schema),
                    "state": .string($0.state.rawValue), "position": .integer($0.position), "lag": .integer($0.lag),
                    "lag_seconds": .figure($0.lagSeconds), "bytes": .integer($0.bytes),
                    "built_at": .time($0.builtAt), "in_use": .bool($0.isHeld),
                ]
            })
        return .complete()
    }
}
