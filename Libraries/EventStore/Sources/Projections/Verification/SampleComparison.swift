internal import Postgres

/// Compares the rows of some streams with what the projections make of the log. The expected rows are in temporary tables of one
/// session, which are empty after every transaction.
struct SampleComparison: Sendable {
    /// Number of positions in one page. The streams that begin in a page are compared with all their recorded events.
    static let page: Int64 = 500
    /// Longer streams are left out, because a page must not become long.
    private static let versionLimit: Int32 = 1_000
    private static let schema = "pg_temp"

    /// The result of one page.
    struct Page: Sendable {
        var through: Int64
        /// Compared and differing rows, by the schemas of the read models.
        var results: [String: (rows: Int64, differing: Int64)] = [:]
    }

    private struct ReadModel {
        var projection: any Projection
        var schema: String
        /// The statements that compare each table with its temporary one.
        var tables: [(count: SQL, differences: SQL)] = []
    }

    private let connection: LeasedConnection
    private let readModels: [ReadModel]

    /// Creates the temporary tables.
    init(of projections: [any Projection], on connection: LeasedConnection) async throws {
        self.connection = connection
        try await connection.run(["DISCARD TEMP", "SET synchronous_commit = off"])
        var readModels: [ReadModel] = []
        for projection in projections {
            var readModel = ReadModel(projection: projection, schema: type(of: projection).schema)
            for table in try await ReadModels.tables(of: readModel.schema, on: connection) {
                try await connection.query(
                    """
                    CREATE TEMPORARY TABLE \(identifier: table)
                    (LIKE \(identifier: readModel.schema).\(identifier: table) INCLUDING INDEXES) ON COMMIT DELETE ROWS
                    """)
                readModel.tables.append(
                    try await ReadModels.texts(
                        for: table, in: readModel.schema, and: Self.schema, isSample: true, limit: 1, on: connection))
            }
            readModels.append(readModel)
        }
        self.readModels = readModels
    }

    func randomPosition() async throws -> Int64 {
        let tail = try await LogReader(client: connection).tail()
        return tail > Self.page ? Int64.random(in: 0..<tail) : 0
    }

    /// Compares the streams that begin in the page after a position.
    /// - Returns: `nil` at the end of the log
    func compare(after position: Int64) async throws -> Page? {
        while true {
            let before = try await tableGenerations()
            try await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
            let page = try await compareInTransaction(after: position)
            try await connection.query("COMMIT")
            // A snapshot holds rows, but not names. If other tables became live meanwhile, the page is compared again.
            if try await tableGenerations() == before { return page }
        }
    }

    private func compareInTransaction(after position: Int64) async throws -> Page? {
        let through = min(position + Self.page, try await LogReader(client: connection).tail())
        guard through > position else { return nil }
        let streams = try await connection.query(
            """
            SELECT stream FROM log.recorded_events AS e
            WHERE position > \(position) AND position <= \(through) AND version = 1 AND NOT EXISTS (
                SELECT FROM log.recorded_events AS long WHERE long.stream = e.stream AND long.version > \(Self.versionLimit))
            """
        ).decode(String.self)
        let recorded = try await LogReader(client: connection).select("WHERE stream = ANY(\(streams)) ORDER BY position")
        let positions = try await ReadModels.positions(of: readModels.map(\.schema), on: connection)
        var page = Page(through: through)
        for readModel in readModels {
            guard let end = positions[readModel.schema] else { continue }
            let own = recorded.filter {
                $0.position <= end && $0.envelope.stream.category == readModel.projection.category
            }
            let writes = try readModel.projection.writes(for: own, in: Self.schema)
            guard !writes.isEmpty else { continue }
            try await connection.run(writes.map(\.statement))
            var (rows, differing): (Int64, Int64) = (0, 0)
            for table in readModel.tables {
                rows += try await connection.query(table.count).decode(Int64.self).first ?? 0
                differing +=
                    try await connection.query(table.differences)
                    .decode((Int64, String, String?, String?).self).first?.0 ?? 0
            }
            page.results[readModel.schema] = (rows, differing)
        }
        return page
    }

    private func tableGenerations() async throws -> [String] {
        var generations: [String] = []
        for readModel in readModels {
            generations += try await connection.query(ReadModelState.tableGeneration(of: readModel.schema)).decode(String.self)
        }
        return generations
    }
}
