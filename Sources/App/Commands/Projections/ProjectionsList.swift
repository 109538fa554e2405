internal import ArgumentParser
internal import EventStore
internal import Postgres

/// `humon projections list`
struct ProjectionsList: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = [
        "name", Column("version", yields: true), Column("schema", yields: true), "state", "position", "lag", "lag_seconds",
        "rows", "bytes",
        Column("built_at", yields: true), Column("served_at", yields: true),
    ]

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the read models with their state, lag and size.",
        discussion: """
            The number of rows of a large read model is PostgreSQL's estimate. States: ready; behind (a server catches up by \
            itself); missing, or ahead of the log (`humon projections rebuild` repairs both); kept (for a rollback); building; \
            interrupted (the next rebuild continues it); other version.

            EXAMPLE: humon projections list --json
            """
    )

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await database.reading(options.output(table)) { client, output in
            var found = Table(columns: Self.columns)
            for model in try await Backend.readModels(client).list() {
                found.append(
                    .text(model.name), .number(model.version), .text(model.schema),
                    .state(model.state.health, model.state.rawValue), .number(model.position), .count(model.lag),
                    .seconds(model.lagSeconds), .count(model.rows), .bytes(model.bytes), .time(model.builtAt),
                    .time(model.servedAt)
                )
            }
            try output.write(found)
        }
    }
}

extension ReadModelStatus.State {
    var health: Field.State {
        switch self {
        case .ready, .kept, .building: .good
        case .behind, .interrupted, .otherVersion: .doubtful
        case .missing, .ahead: .bad
        }
    }
}
