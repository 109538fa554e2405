internal import ArgumentParser
internal import EventStore
internal import Postgres

extension Projections {
    /// `humon projections list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the read models: how far they are behind the log, how large they are, and whether they are well.",
            discussion: """
                Rows are counted, or PostgreSQL's estimate where there are very many. States: ready; behind, which a server mends by itself; missing or ahead of the log, which `humon projections rebuild` mends; kept, for \
                a rollback; building; interrupted, which the next rebuild goes on with; other version.

                EXAMPLE: humon projections list --json
                """
        )

        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await options.reading { client, output in
                var table = Table(
                    "name", "version", "schema", "state", "position", "lag", "lag_seconds", "rows", "bytes", "built_at",
                    "served_at")
                for model in try await Backend.readModels(client).list() {
                    table.append(
                        .text(model.name), .number(model.version), .text(model.schema),
                        .state(model.state.health, model.state.rawValue), .number(model.position), .count(model.lag),
                        .seconds(model.lagSeconds), .count(model.rows), .bytes(model.bytes), .time(model.builtAt),
                        .time(model.servedAt)
                    )
                }
                try output.write(table)
            }
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
