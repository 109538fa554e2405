internal import EventStore
internal import HTTP
internal import Logging
internal import Postgres

extension Database {
    /// - Throws: ``CommandFailure`` if this version did not migrate the database, or if the user lacks the role; `PostgresError`; the
    ///   errors of the body
    func using<Value: Sendable>(
        _ configuration: PostgresConfiguration, logger: Logger, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        do {
            return try await withPostgres(configuration, logger: logger) { client in
                // Problems of the connection show before any work is done.
                try await client.query("SELECT FROM log.inline_read_models LIMIT 0")
                return try await body(client)
            }
        } catch let error as PostgresError {
            if let reason = await Self.reason(error, configuration, logger: logger) { throw reason }
            throw error
        }
    }

    /// Runs the body with the rights of the URL's user, for migrations and imports.
    /// - Throws: ``CommandFailure`` if the user lacks the rights of the database's owner; `PostgresError`; the errors of the body
    func usingAsOwner<Value: Sendable>(
        logger: Logger, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        do { return try await withPostgres(asOwner, logger: logger, body) } catch let error as PostgresError {
            guard error.sqlState == .insufficientPrivilege, let (user, owner) = try? await userAndOwner(logger: logger),
                user != owner
            else { throw error }
            throw CommandFailure.notOwner(user: user, owner: owner)
        }
    }

    private func userAndOwner(logger: Logger) async throws -> (user: String, owner: String) {
        try await withPostgres(asOwner, logger: logger) { client in
            try await client.query(
                "SELECT session_user, pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
            ).decode((String, String).self)[0]
        }
    }

    /// PostgreSQL refuses a role while it opens the connection, which looks as if the database were away.
    private static func reason(
        _ error: PostgresError, _ configuration: PostgresConfiguration, logger: Logger
    ) async -> CommandFailure? {
        switch error {
        case .refused(let refusal):
            return [.undefinedTable, .insufficientPrivilege, .invalidSchemaName].contains(refusal.sqlState) ? .notMigrated : nil
        case .unavailable:
            guard let role = configuration.role else { return nil }
            guard let (isMember, user) = try? await configuration.membership(in: role, logger: logger) else { return nil }
            return switch isMember {
            case nil: .notMigrated
            case false?: .notMember(user: user, role: role)
            case true?: nil
            }
        case .connectionLost, .deadlineExceeded, .rolledBack, .unreplicated, .decoding, .unusableURL: return nil
        }
    }
}

extension PostgresConfiguration {
    /// Asks on a connection without the role whether its user is a member of the role; `nil` if there is no such role.
    func membership(in role: String, logger: Logger) async throws -> (isMember: Bool?, user: String) {
        var plain = self
        (plain.role, plain.connections) = (nil, 1)
        return try await withPostgres(plain, logger: logger) { client in
            try await client.query(
                "SELECT (SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = \(role)), current_user"
            ).decode((Bool?, String).self)[0]
        }
    }
}

extension CommandFailure {
    fileprivate static let notMigrated = CommandFailure(
        "The database lacks tables of this version of humon, or the role \(LogRights.readerRole): run humon migrate.")

    fileprivate static func notOwner(user: String, owner: String) -> CommandFailure {
        CommandFailure(
            "The user \(user) lacks the rights of \(owner), the owner of this database: run humon migrate or humon log import as that user. If no migration is missing, other commands and serve work with HUMON_MIGRATE=false."
        )
    }

    fileprivate static func notMember(user: String, role: String) -> CommandFailure {
        CommandFailure("The user \(user) lacks the rights of this command: run GRANT \(role) TO \"\(user)\".")
    }
}

extension Database {
    /// Runs the body with the modules, for a command that appends beside the servers. It applies no migration.
    /// - Throws: ``CommandFailure``, `FormatConflict` beside servers with conflicting formats, `ReadModelError`, `PostgresError`, and the
    ///   errors of the body
    func appending<Value: Sendable>(
        logger: Logger, _ body: @escaping @Sendable (ComposedModules) async throws -> Value
    ) async throws -> Value {
        try await using(asApplication(connections: 4), logger: logger) { client in
            try await RunningPrograms(Backend.formats, client: client, logger: logger).prepare()
            try await Backend.readModels(client, logger: logger).prepare()
        }
        let backend = Backend(self, connections: 1, logger: logger)
        return try await backend.run(logger: logger) { try await body(backend.modules) }
    }
}
