internal import EventStore
internal import Logging
internal import Postgres

extension OutputOptions {
    /// Looks at the database there is, with the rights of those who only look, and nothing else is needed.
    func reading<Value: Sendable>(
        connections: Int = 1, _ body: @Sendable (PostgresClient, Output) async throws -> Value
    ) async throws -> Value {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let output = output
        return try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            try await database.reading(connections: connections, logger: logger) { try await body($0, output) }
        }
    }
}

extension Database {
    /// - Throws: ``NotUsable``
    func reading<Value: Sendable>(
        connections: Int = 1, logger: Logger, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        try await using(asReader(connections: connections), logger: logger, body)
    }

    /// - Throws: ``NotUsable`` where the database was not migrated by this version, or the user lacks the role
    func using<Value: Sendable>(
        _ configuration: PostgresConfiguration, logger: Logger, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        do {
            return try await withPostgres(configuration, logger: logger) { client in
                // What is wrong with the connection is known before any work.
                try await client.query("SELECT FROM log.inline_read_models LIMIT 0")
                return try await body(client)
            }
        } catch let error as PostgresError {
            if let reason = await Self.reason(error, configuration, logger: logger) { throw reason }
            throw error
        }
    }

    /// A refused role breaks the connection as it is opened, and looks like a database that is away: so it is asked for.
    private static func reason(
        _ error: PostgresError, _ configuration: PostgresConfiguration, logger: Logger
    ) async -> NotUsable? {
        switch error {
        case .refused(let refusal):
            return [.undefinedTable, .insufficientPrivilege, .invalidSchemaName].contains(refusal.sqlState) ? .notMigrated : nil
        case .unavailable:
            guard let role = configuration.role else { return nil }
            var plain = configuration
            (plain.role, plain.connections) = (nil, 1)
            let found = try? await withPostgres(plain, logger: logger) { client in
                try await client.query(
                    """
                    SELECT (SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = \(role)),
                        current_user
                    """
                ).decode((Bool?, String).self)[0]
            }
            guard let (isMember, user) = found else { return nil }
            return switch isMember {
            case nil: .notMigrated
            case false?: .notMember(user: user, role: role)
            case true?: nil
            }
        case .connectionLost, .deadlineExceeded, .rolledBack, .decoding, .unusableURL: return nil
        }
    }
}

/// Why a database cannot be worked on.
enum NotUsable: Error, Hashable, CustomStringConvertible {
    case notMigrated
    case notMember(user: String, role: String)

    var description: String {
        switch self {
        case .notMigrated:
            "The database lacks what this version of humon brings (tables, or the role \(Database.readerRole)): run humon migrate."
        case .notMember(let user, let role):
            "The user \(user) may not do this with the database: run GRANT \(role) TO \"\(user)\"."
        }
    }
}
