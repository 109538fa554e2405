internal import Encoding
internal import EventStore
internal import HTTP
internal import HTTPServer
internal import HTTPTypes
internal import Postgres

extension Module {
    /// `POST /v1/soups/{id}` cooks `id` litres, and `GET /v1/soups` responds with the millilitres of all soups.
    static func soups<Release: SoupRelease>(_ release: Release.Type) -> Module {
        Module(
            StoredModule("soups", domainEvents: [SoupCooked<Release>.self], projections: [SoupsProjection<Release>()]),
            of: nil,
            make: {
                SoupsModule<Release>(
                    commands: CommandHandler($0, state: StateReader(of: SoupsProjection<Release>(), client: $0.database)),
                    database: $0.database, dependencies: $0.dependencies)
            },
            routes: { soups, _ in
                [
                    Route(.post, "/v1/soups/{id}") { _, context in
                        guard let litres = Int64(context.parameter) else { return Response(status: .badRequest) }
                        try await soups.cook(millilitres: litres * 1_000, requestID: context.requestID)
                        return Response(text: "cooked")
                    },
                    Route(.get, "/v1/soups") { _, _ in Response(text: "\(try await soups.millilitres())") },
                ]
            })
    }
}

private struct SoupsModule<Release: SoupRelease>: Sendable {
    let commands: CommandHandler
    let database: PostgresClient
    let dependencies: Dependencies

    func cook(millilitres: Int64, requestID: String) async throws {
        _ = try await commands.handle(CommandContext(requestID: requestID)) {
            let pot = StreamName(category: "soup", key: "\(dependencies.randomUUID())")
            return Decision(SoupCooked<Release>(millilitres: millilitres), to: pot, after: 0, by: nil)
        }
    }

    func millilitres() async throws -> Int64 {
        let schema = SoupsProjection<Release>.schema
        return try await database.query("SELECT coalesce(sum(millilitres), 0)::bigint FROM \(identifier: schema).soups")
            .decode(Int64.self).first ?? 0
    }
}

private struct SoupsProjection<Release: SoupRelease>: Projection {
    static var name: String { "soups" }
    static var version: Int32 { 1 }
    static var personalColumns: Set<String> { [] }

    static var tables: String { "CREATE TABLE soups (soup text PRIMARY KEY, millilitres bigint NOT NULL);" }

    static var indexes: String { "" }

    func fold(_ envelopes: [EventEnvelope<SoupCooked<Release>>]) -> [(soup: String, millilitres: Int64)] {
        envelopes.map { ($0.stream.key, $0.event.millilitres) }
    }

    func writes(for soups: [(soup: String, millilitres: Int64)], in schema: String) -> [Write] {
        soups.isEmpty
            ? []
            : [
                .run(
                    """
                    INSERT INTO \(identifier: schema).soups (soup, millilitres)
                    SELECT * FROM unnest(\(soups.map(\.soup)), \(soups.map(\.millilitres)))
                    """)
            ]
    }
}
