public import Logging
public import Postgres

/// The read models of a database: creates them, rebuilds them, and says whether they fit this program.
public struct ReadModels: Sendable {
    /// So many recorded events are read, folded and written at once in a rebuild.
    public static let rebuildBatch: Int64 = 5_000

    private let projections: [any Projection]
    private let client: PostgresClient
    private let logger: Logger

    public init(projections: [any Projection], client: PostgresClient, logger: Logger) {
        self.projections = projections
        self.client = client
        self.logger = logger
    }

    /// Builds what is not there yet, from the log.
    /// - Throws: ``ReadModelError`` where one is there but cannot be used as it is.
    public func prepare() async throws {
        let tail = try await LogReader(client: client).tail()
        for projection in projections { try await prepare(projection, tail: tail) }
    }

    private func prepare(_ projection: any Projection, tail: Int64) async throws {
        let (schema, version) = (type(of: projection).schema, type(of: projection).version)
        let found = try await client.query(
            "SELECT version, position, to_regnamespace(schema) IS NOT NULL FROM log.checkpoints WHERE schema = \(schema)"
        ).decode((Int32, Int64, Bool).self).first
        guard let (foundVersion, position, exists) = found, exists else {
            do { return try await rebuild(projection) { _ in } } catch ReadModelError.rebuiltByAnother {
                // Another server started at the same moment and was faster.
                return try await prepare(projection, tail: tail)
            }
        }
        guard foundVersion == version else { throw ReadModelError.otherVersion(schema, found: foundVersion, wanted: version) }
        guard position >= tail else { throw ReadModelError.behind(schema, position: position, tail: tail) }
    }

    /// Empties and replays every read model. Readers and writers go on meanwhile, on the tables there are; the new ones take
    /// over under the log's lock, at an exact position. A rebuild that was broken off goes on where it was.
    public func rebuild(progress: @Sendable (RebuildProgress) -> Void) async throws {
        for projection in projections { try await rebuild(projection, progress: progress) }
    }

    private func rebuild<P: Projection>(_ projection: P, progress: @Sendable (RebuildProgress) -> Void) async throws {
        let shadow = P.schema + "_rebuild"
        try await begin(P.self, in: shadow)
        while let position = try await replayBatch(projection, in: shadow) {
            progress(RebuildProgress(schema: P.schema, position: position, tail: try await LogReader(client: client).tail()))
        }
        let position = try await takeOver(projection, from: shadow)
        progress(RebuildProgress(schema: P.schema, position: position, tail: position))
        logger.info("read model rebuilt", metadata: ["schema": "\(P.schema)", "position": "\(position)"])
    }

    /// Creates the shadow schema, unless one of the same version is there to go on with.
    private func begin<P: Projection>(_: P.Type, in shadow: String) async throws {
        try await client.withTransaction { connection in
            try await connection.query("SELECT log.lock()")
            let found = try await connection.query(
                "SELECT to_regnamespace(schema) IS NOT NULL AND version = \(P.version) FROM log.checkpoints WHERE schema = \(shadow)"
            ).decode(Bool.self)
            guard found != [true] else { return }
            try await connection.query("DROP SCHEMA IF EXISTS \(identifier: shadow) CASCADE")
            try await connection.query("CREATE SCHEMA \(identifier: shadow)")
            try await connection.execute(script: P.tables(in: shadow))
            try await connection.query("DELETE FROM log.checkpoints WHERE schema = \(shadow)")
            try await connection.query(
                "INSERT INTO log.checkpoints (schema, version, position) VALUES (\(shadow), \(P.version), 0)")
        }
    }

    /// The new checkpoint; nil when there was nothing to replay.
    private func replayBatch<P: Projection>(_ projection: P, in shadow: String) async throws -> Int64? {
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in try await replayBatch(projection, in: shadow, connection) }
        }
    }

    private func replayBatch<P: Projection>(
        _ projection: P, in shadow: String, _ connection: PostgresConnection
    ) async throws -> Int64? {
        // Locked, so that two rebuilds at once take turns instead of writing a batch twice.
        let checkpoint = try await connection.query("SELECT position FROM log.checkpoints WHERE schema = \(shadow) FOR UPDATE")
            .decode(Int64.self).first
        guard let checkpoint else { throw ReadModelError.rebuiltByAnother(P.schema) }
        let recorded = try LogReader.contiguous(
            await connection.query(LogReader.query(after: checkpoint, limit: Self.rebuildBatch)), after: checkpoint
        )
        guard let last = recorded.last?.position else { return nil }
        try await connection.run(
            projection.statements(for: recorded, in: shadow)
                + ["UPDATE log.checkpoints SET position = \(last) WHERE schema = \(shadow)"]
        )
        return last
    }

    /// Replays what was appended meanwhile and swaps the schemas, with all appends held up; the old tables stay as `…_before`.
    private func takeOver<P: Projection>(_ projection: P, from shadow: String) async throws -> Int64 {
        let before = P.schema + "_before"
        return try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in
                try await connection.query("SELECT log.lock()")
                while try await replayBatch(projection, in: shadow, connection) != nil {}
                try await connection.query("DROP SCHEMA IF EXISTS \(identifier: before) CASCADE")
                try await connection.query("DELETE FROM log.checkpoints WHERE schema = \(before)")
                let exists = try await connection.query("SELECT to_regnamespace(\(P.schema)) IS NOT NULL").decode(Bool.self)
                if exists == [true] {
                    try await connection.query("ALTER SCHEMA \(identifier: P.schema) RENAME TO \(identifier: before)")
                    try await connection.query("UPDATE log.checkpoints SET schema = \(before) WHERE schema = \(P.schema)")
                }
                try await connection.query("ALTER SCHEMA \(identifier: shadow) RENAME TO \(identifier: P.schema)")
                try await connection.query("DELETE FROM log.checkpoints WHERE schema = \(P.schema)")
                return try await connection.query(
                    "UPDATE log.checkpoints SET schema = \(P.schema) WHERE schema = \(shadow) RETURNING position"
                ).decode(Int64.self)[0]
            }
        }
    }
}

/// How far a rebuild has come.
public struct RebuildProgress: Sendable, Hashable {
    public var schema: String
    public var position: Int64
    public var tail: Int64
}

/// Why a read model cannot be used as it is.
public enum ReadModelError: Error, Hashable, CustomStringConvertible {
    case otherVersion(String, found: Int32, wanted: Int32)
    case behind(String, position: Int64, tail: Int64)
    case rebuiltByAnother(String)
    /// Found by an append: nothing was recorded.
    case outOfStep

    public var description: String {
        switch self {
        case .otherVersion(let schema, let found, let wanted):
            "The read model \(schema) has version \(found), this program needs \(wanted): run humon projections rebuild."
        case .behind(let schema, let position, let tail):
            "The read model \(schema) is at position \(position), the log at \(tail): run humon projections rebuild."
        case .rebuiltByAnother(let schema): "Another rebuild of the read model \(schema) has just taken over."
        case .outOfStep:
            "A read model is missing, behind the log, or of another version than this program's: run humon projections rebuild."
        }
    }
}
