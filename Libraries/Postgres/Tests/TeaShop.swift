import Logging
import Postgres

/// A shop that keeps its teas in a table.
struct TeaShop: Sendable {
    let client: PostgresClient

    /// Runs the shop's connections for as long as the body runs.
    static func with<Value: Sendable>(
        _ url: String, _ body: @Sendable (TeaShop) async throws -> Value
    ) async throws -> Value {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = 2
        return try await withPostgres(configuration, logger: Logger(label: "shop")) { client in
            try await client.query(
                "CREATE TABLE IF NOT EXISTS teas (name text PRIMARY KEY, grams bigint NOT NULL CHECK (grams >= 0))")
            return try await body(TeaShop(client: client))
        }
    }

    func stock(_ name: String, grams: Int64) async throws {
        // The values are bound, never a part of the text.
        try await client.query(
            """
            INSERT INTO teas (name, grams) VALUES (\(name), \(grams))
            ON CONFLICT (name) DO UPDATE SET grams = teas.grams + excluded.grams
            """)
    }

    /// Takes tea from one jar and puts it into another, or changes neither.
    func move(grams: Int64, from old: String, to new: String) async throws {
        try await client.withTransaction { transaction in
            try await transaction.query("UPDATE teas SET grams = grams - \(grams) WHERE name = \(old)")
            try await transaction.query("UPDATE teas SET grams = grams + \(grams) WHERE name = \(new)")
        }
    }

    func teas(ofAtLeast grams: Int64) async throws -> [(name: String, grams: Int64)] {
        let rows = try await client.query("SELECT name, grams FROM teas WHERE grams >= \(grams) ORDER BY name")
        return try rows.decode((String, Int64).self)
    }
}
