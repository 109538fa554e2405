public import Foundation
internal import Hashing
public import Postgres
internal import Synchronization

/// Makes ids and digests from something that is secret or that can be guessed: a token, an e-mail address, an idempotency key. An id stays
/// in the log, in archives and in the erasure list after an erasure. The pepper never leaves the database, so nobody can test a guess
/// elsewhere.
///
/// A log that was imported has ids and digests of another pepper, by which this program does not find anything.
public final class Pepper: Sendable {
    private let database: PostgresClient
    private let history: LostEndDetector
    private let known = Mutex<(value: UUID, generation: LogGeneration)?>(nil)

    /// - Parameter history: the pepper is read again when the log lost its end, since a restored database may have another one
    public init(database: PostgresClient, history: LostEndDetector) {
        (self.database, self.history) = (database, history)
    }

    /// The same id for the same name, on every server of the database.
    /// - Parameter name: begins with the kind of the id, so that names of different kinds differ
    /// - Throws: `FormatError` without a pepper, `PostgresError`, `CancellationError`
    public func id(of name: String) async throws -> UUID {
        UUID(derivedFrom: "\(try await value()) \(name)")
    }

    /// The same 32 bytes for the same name, on every server of the database.
    /// - Parameter name: as of ``id(of:)``
    /// - Throws: as ``id(of:)``
    public func digest(of name: String) async throws -> [UInt8] {
        Array(SHA256.hash("\(try await value()) \(name)".utf8))
    }

    private func value() async throws -> UUID {
        let generation = history.generation
        if let known = known.withLock(\.self), known.generation == generation { return known.value }
        guard let value = try await database.query("SELECT value FROM log.pepper").decode(UUID.self).first else {
            throw FormatError("log.pepper has no row")
        }
        known.withLock { $0 = (value, generation) }
        return value
    }
}
