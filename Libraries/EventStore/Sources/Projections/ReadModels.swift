internal import Foundation
public import Logging
public import Postgres

/// The read models of a database that this program reads and writes. It creates them, keeps them in step with the log, and
/// repairs them while servers run.
public struct ReadModels: Sendable {
    let projections: [any Projection]
    /// Selects the recorded events from which the read models are made.
    let filter: LogFilter
    let client: PostgresClient
    /// Runs the statements of a rebuild that take long and hold no lock that an append needs.
    let background: PostgresClient
    let logger: Logger
}

extension ReadModels {
    /// The first key of the locks on copies, "humo". `log.holders` has it too.
    static let lockClass: Int32 = 0x6875_6D6F

    /// - Parameters:
    ///   - projections: all projections of the program
    ///   - client: has at least four connections for a rebuild or a verification
    ///   - background: loads the new tables of a rebuild and makes their indexes, if it is not nil. It has at least four connections,
    ///     which may have a low priority
    public init(projections: [any Projection], client: PostgresClient, background: PostgresClient? = nil, logger: Logger) {
        self.init(
            projections: projections, filter: .everything, client: client, background: background ?? client, logger: logger)
    }

    /// The read models with these names, in the order of composition; all of them if there are no names.
    /// - Throws: ``ReadModelError/unknown(_:known:)``
    public func named(_ names: [String]) throws -> ReadModels {
        try Self.check(names, among: projections)
        return names.isEmpty ? self : only { names.contains(type(of: $0).name) }
    }

    /// - Throws: ``ReadModelError/unknown(_:known:)``
    public static func check(_ names: [String], among projections: [any Projection]) throws {
        let known = projections.map { type(of: $0).name }
        if let unknown = names.first(where: { !known.contains($0) }) { throw ReadModelError.unknown(unknown, known: known) }
    }

    private func only(_ isWanted: (any Projection) -> Bool) -> ReadModels {
        let chosen = projections.filter(isWanted)
        guard chosen.count < projections.count else { return self }
        let filter = LogFilter(categories: Set(chosen.map(\.category)))
        return ReadModels(projections: chosen, filter: filter, client: client, background: background, logger: logger)
    }

    /// Builds missing read models, and brings the others to the end of the log.
    /// - Throws: ``ReadModelError/ahead(_:position:tail:)`` if a read model is beyond the end of the log; `PostgresError`
    public func prepare() async throws {
        let positions = try await positions()
        let missing = only { positions[type(of: $0).schema] == nil }
        if !missing.projections.isEmpty {
            do {
                try await missing.build()
            } catch ReadModelError.underWay(let schema) {
                // Another server started at the same moment and was faster, or an operator rebuilds it.
                logger.notice("waiting for a read model that another process builds", metadata: ["schema": "\(schema)"])
                return try await prepare()
            } catch ReadModelError.aborted(let schema) {
                logger.notice("the connection of a build was lost; going on with it", metadata: ["schema": "\(schema)"])
                return try await prepare()
            }
        }
        try await catchUp()
        let reached = try await self.positions()
        // Another program may have dropped a copy that lacked an erasure.
        guard projections.allSatisfy({ reached[type(of: $0).schema] != nil }) else { return try await prepare() }
        let tail = try await LogReader(client: client).tail()
        for (schema, position) in reached where position > tail {
            throw ReadModelError.ahead(schema, position: position, tail: tail)
        }
    }

    /// Applies the appends of programs of other versions, which do not change this program's tables.
    /// - Throws: the error of the first read model that could not follow, after the other read models reached the end of the log
    public func catchUp() async throws {
        let failures = try await catchUpEach().failures
        for projection in projections { if let failure = failures[type(of: projection).schema] { throw failure } }
    }

    /// Catches up one read model after the other. If one cannot follow, the others go on.
    /// - Returns: whether a read model was behind, and the errors of those that could not follow, by schema
    /// - Throws: `PostgresError` if the database is away, `CancellationError`
    func catchUpEach() async throws -> (wasBehind: Bool, failures: [String: any Error]) {
        let behind = try await client.query(
            "SELECT schema FROM log.read_model_positions(\(schemas)) WHERE position < log.tail()"
        ).decode(String.self)
        var failures: [String: any Error] = [:]
        for projection in projections where behind.contains(type(of: projection).schema) {
            do {
                while try await catchUp(projection) == true {}
            } catch let error as CancellationError {
                throw error
            } catch let error as PostgresError where error.isUnavailability && !error.isWait {
                throw error
            } catch {
                failures[type(of: projection).schema] = error
            }
        }
        return (!behind.isEmpty, failures)
    }

    /// Applies one page of the log, in its own transaction.
    /// - Returns: false at the log's end; nil if the read model is missing or inline
    private func catchUp(_ projection: any Projection) async throws -> Bool? {
        try await client.withTransaction { connection in
            var copies = try await ReadModelCopy.locked([projection], on: connection)
            guard let end = copies.first.map({ $0.position + Self.page }) else { return nil }
            try await ReadModelCopy.catchUp(&copies, through: end, on: connection)
            return copies.first?.position == end
        }
    }
    private static let page: Int64 = 10_000

    /// The schemas of the live tables.
    var schemas: [String] { projections.map { type(of: $0).schema } }

    /// The positions of the live tables.
    func positions() async throws -> [String: Int64] { try await Self.positions(of: schemas, on: client) }

    /// The positions of copies of read models, by schema. Missing copies have no entry.
    static func positions(of schemas: [String], on database: any PostgresQuerying) async throws -> [String: Int64] {
        let found = try await database.query(
            "SELECT schema, position FROM log.read_model_positions(\(schemas)) WHERE to_regnamespace(schema) IS NOT NULL"
        ).decode((String, Int64).self)
        return Dictionary(found) { first, _ in first }
    }

    /// Creates empty tables at position 0. It drops an existing schema of that name.
    /// - Throws: ``ReadModelError/undeclared(_:)``, `PostgresError`
    static func create(_ schema: String, on connection: LeasedConnection) async throws {
        do { try await connection.query("SELECT log.create_read_model(\(schema))") } catch PostgresError.refused(let refusal)
            where refusal.sqlState.rawValue == "P0002"
        {
            throw ReadModelError.undeclared(schema)
        }
    }

    static func drop(_ schema: String, on connection: LeasedConnection) async throws {
        try await connection.query("SELECT log.drop_read_model(\(schema))")
    }
}

extension PostgresError {
    /// Whether a lock or an answer did not come in time, although the database is there: other tables may be free.
    fileprivate var isWait: Bool { sqlState == .lockNotAvailable || sqlState == .queryCanceled }
}

/// The reason why a read model cannot be used or changed.
public enum ReadModelError: Error, Hashable, CustomStringConvertible {
    case unknown(String, known: [String])
    case ahead(String, position: Int64, tail: Int64)
    /// The owner of the log has not declared how the tables of this schema are made.
    case undeclared(String)
    /// Another process fills this shadow.
    case underWay(String)
    /// Another user of the database fills this shadow, and the present user may not end sessions of that user.
    case foreign(String)
    /// The process lost its lock on the shadow, for example because another one aborted the work.
    case aborted(String)
    /// Tables that are to be dropped are in use, or another process renames or drops tables and does not finish.
    case busy
    /// An append found that a read model is missing. Nothing was recorded.
    case missing
    /// An append found that the read models cannot follow the log. Nothing was recorded.
    case unreadable(FormatError)
    /// The read model lacks appends of another version of the program, and could not catch up. Nothing was recorded.
    case behind(String)

    public var description: String {
        switch self {
        case .unknown(let name, let known): "There is no read model \(name); there are \(known.joined(separator: ", "))."
        case .ahead(let schema, let position, let tail):
            "The read model \(schema) is at position \(position), but the log ends at \(tail): the log has lost its end. If that "
                + "is as it should be, after a restore say, rebuild the read models."
        case .undeclared(let schema): "The database does not know how \(schema) is made: run humon migrate of this version first."
        case .underWay(let schema): "Another process is filling \(schema)."
        case .foreign(let schema):
            "Another user of the database is filling \(schema): run the command with the DATABASE_URL of that user."
        case .aborted(let schema):
            "The work on \(schema) ended early: it was aborted, or the connection to the database was lost."
        case .busy:
            "A transaction, such as that of pg_dump, reads tables that are to be dropped, or another process replaces tables: try again "
                + "later."
        case .missing: "A read model is missing: rebuild the read models."
        case .unreadable(let error):
            "The read models cannot follow the log, in which this program cannot read a recorded event (\(error)): replace this "
                + "server by a release that reads it."
        case .behind(let schema): "The read model \(schema) is behind the log and cannot be brought along now."
        }
    }
}
