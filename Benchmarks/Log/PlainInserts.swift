internal import Foundation
internal import Postgres

/// PostgreSQL without the log: tables that promise no order of commits.
struct PlainInserts: Sendable {
    static let clients = [1, 8, 32, 64]
    private static let copiedRows = 500_000

    private let cluster: Cluster
    private let database: Database
    private let pgbench: Pgbench

    init(cluster: Cluster, seconds: Int) async throws {
        self.cluster = cluster
        database = try await cluster.createDatabase("plain", migrated: false)
        pgbench = Pgbench(cluster: cluster, database: database, seconds: seconds)
        try await database.administer { client in
            // The columns, keys and types of log.recorded_events.
            for table in ["plain", "copied"] {
                try await client.query(
                    """
                    CREATE TABLE \(identifier: table) (
                        position bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, stream text COLLATE "C" NOT NULL,
                        version integer NOT NULL, type text NOT NULL, format smallint NOT NULL, recorded_at timestamptz NOT NULL,
                        data json NOT NULL, metadata json NOT NULL, UNIQUE (stream, version)
                    )
                    """
                )
            }
            try await client.query("CREATE TABLE bare (id bigserial PRIMARY KEY, data text NOT NULL)")
            // With a cache, so that the numbers of streams are cheap.
            try await client.query("CREATE SEQUENCE streams CACHE 1000")
        }
    }

    /// (b)
    func singleRows(clients: Int) async throws -> Measurement {
        let script = """
            INSERT INTO plain (id, stream, version, type, format, recorded_at, data, metadata)
            VALUES (gen_random_uuid(), 'event-' || nextval('streams'), 1, 'EventCreated', 1, now(),
                '\(BenchmarkEvent.textForPgbench)', '\(BenchmarkEvent.metadataForPgbench)')
            """
        return try await pgbench.run("(b) single rows, the log's keys", script: script, clients: clients)
    }

    /// (b′)
    func bareRows(clients: Int) async throws -> Measurement {
        let text = String(repeating: "x", count: BenchmarkEvent.bytes)
        return try await pgbench.run(
            "(b') single rows, a bare table", script: "INSERT INTO bare (data) VALUES ('\(text)')", clients: clients)
    }

    /// (c)
    func fiftyRows(clients: Int) async throws -> Measurement {
        let script = """
            INSERT INTO plain (id, stream, version, type, format, recorded_at, data, metadata)
            SELECT gen_random_uuid(), 'event-' || nextval('streams'), 1, 'EventCreated', 1, now(), e.data, e.metadata
            FROM unnest(
                array_fill('\(BenchmarkEvent.textForPgbench)'::json, ARRAY[50]),
                array_fill('\(BenchmarkEvent.metadataForPgbench)'::json, ARRAY[50])
            ) AS e (data, metadata)
            """
        return try await pgbench.run("(c) 50 rows by unnest", script: script, clients: clients, rowsPerTransaction: 50)
    }

    /// (d): one COPY in one transaction, from a file.
    func copyIn() async throws -> Measurement {
        progress("(d) COPY of \(Self.copiedRows) rows")
        let file = "\(cluster.directory)/rows.tsv"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let rows = """
            SELECT p, gen_random_uuid(), 'event-' || p, 1, 'EventCreated', 1, now(),
                '\(BenchmarkEvent.text)', '\(BenchmarkEvent.metadataText)'
            FROM generate_series(1, \(Self.copiedRows)) AS p
            """
        try await PostgresProgram.run("psql", "-X", "-q", "-c", #"\copy (\#(rows.flattened)) TO '\#(file)'"#, database.url)
        try await database.checkpoint()
        let began = ContinuousClock.now
        try await PostgresProgram.run("psql", "-X", "-q", "-c", #"\copy copied FROM '\#(file)'"#, database.url)
        return Measurement(
            clients: 1,
            perSecond: Double(Self.copiedRows) / ((ContinuousClock.now - began) / .seconds(1)),
            perTransaction: Double(Self.copiedRows)
        )
    }
}

/// (a): commands that take the log's lock in turn, each with a transaction of its own.
struct LockedInserts: Sendable {
    private let pgbench: Pgbench

    init(cluster: Cluster, seconds: Int) async throws {
        let database = try await cluster.createDatabase("locked", migrated: true)
        try await database.administer { client in _ = try await client.query("CREATE SEQUENCE streams CACHE 1000") }
        pgbench = Pgbench(cluster: cluster, database: database, seconds: seconds)
    }

    func measure(clients: Int) async throws -> Measurement {
        let script = """
            SELECT log.append(
                ARRAY[gen_random_uuid()], ARRAY['event-' || nextval('streams')], ARRAY[1], ARRAY['EventCreated'],
                ARRAY[1::smallint], ARRAY[now()], ARRAY['\(BenchmarkEvent.textForPgbench)'],
                ARRAY['\(BenchmarkEvent.metadataForPgbench)'], ARRAY[NULL], '{}'
            )
            """
        return try await pgbench.run("(a) a transaction each, under the lock", script: script, clients: clients)
    }
}

extension String {
    /// A text on one line, as psql's backslash commands need it.
    var flattened: String { replacing("\n", with: " ") }
}
