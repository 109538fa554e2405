internal import Encoding
internal import Foundation
internal import Logging
internal import Postgres

/// Records a batch and changes the read models, in one transaction.
///
/// The direct way sends all statements together and relies on the unique keys: no round trip happens under the log's lock. The
/// checked way queries ids and versions first. It follows if the direct way violates a key, or if a connection broke and the
/// result is unknown.
struct AppendTransaction: Sendable {
    /// Seconds for which the writer looks for the result of a batch after its connection broke.
    static let resolveWithinSeconds = 5.0

    let client: PostgresClient
    let projections: [any Projection]
    let logger: Logger

    /// Returns a result for each append, in order. An append that is refused or fails does not affect the others.
    func append(_ batch: [AppendRequest]) async -> [Result<AppendResult, any Error>] {
        // Whether a connection broke that may have recorded the batch.
        var isFateUnknown = false
        // Whether another version of the program has appended. Its appends do not change the read models of this version.
        var isBehind = false
        if batch.areIndependent {
            do {
                return try await direct(batch)
            } catch let error as PostgresError where error.concernsOneAppend {
                logger.debug("a batch met a conflict; asking first")
            } catch let error as PostgresError where error.mayHaveRun {
                isFateUnknown = true
            } catch let error as PostgresError where error.sqlState == .readModelOutOfStep {
                isBehind = true
            } catch is CancellationError {
                return unknown(batch)
            } catch {
                return await failed(batch, with: error)
            }
        }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(Self.resolveWithinSeconds)
        while true {
            do {
                return try await checked(batch, isBehind: isBehind)
            } catch let error as PostgresError where error.mayHaveRun {
                isFateUnknown = true
            } catch let error as PostgresError where error.sqlState == .readModelOutOfStep && !isBehind {
                isBehind = true
                continue
            } catch is CancellationError {
                return unknown(batch)
            } catch {
                // Ids make it safe to ask again until the database is back and knows the result of the batch. Only a refusal of
                // PostgreSQL's tells it. Other errors come before the ids are looked up.
                let isRefusal = (error as? PostgresError)?.isUnavailability == false
                guard isFateUnknown, !isRefusal else { return await failed(batch, with: error) }
            }
            guard clock.now < deadline else { return unknown(batch) }
            logger.warning(
                "the connection broke during an append; asking what became of it",
                metadata: ["appends": .stringConvertible(batch.count)])
            try? await clock.sleep(for: .milliseconds(50))
        }
    }

    // MARK: The two ways

    private func direct(_ batch: [AppendRequest]) async throws -> [Result<AppendResult, any Error>] {
        let require = batch.conditions.isEmpty ? [] : [batch.conditions.requirement]
        let rows = try await client.run(require + statements(for: batch))
        let first = try rows[require.count].decode(Int64.self)[0]
        return batch.enumerated().map { offset, append in .success(append.recorded(at: first + Int64(offset))) }
    }

    /// PostgreSQL may still commit a transaction after its connection broke. Then ids and versions are taken, and a unique key
    /// rejects the second attempt.
    private func checked(_ batch: [AppendRequest], isBehind: Bool) async throws -> [Result<AppendResult, any Error>] {
        if isBehind { try await catchUp() }
        let ids = Array(Set(batch.map(\.id)))
        return try await client.withConnection { connection in
            let check = batch.conditions.isEmpty ? [] : [batch.conditions.check]
            let found = try await connection.run(
                [
                    "BEGIN", "SELECT log.lock()",
                    "SELECT id, position, stream, version FROM log.recorded(\(ids))",
                    "SELECT stream, version FROM log.versions(\(Array(Set(batch.map(\.stream.description)))))",
                    IdempotencyRecord.query(ids),
                ] + check)
            let recorded = try found[2].decode((UUID, Int64, String, Int32).self).map { id, position, stream, version in
                (id, AppendResult(position: position, stream: StreamName(stream), version: version, isRepeat: true))
            }
            let versions = try found[3].decode((String, Int32).self).map { (StreamName($0), $1) }
            let decisions = decisions(
                on: batch, recorded: Dictionary(uniqueKeysWithValues: recorded), records: try IdempotencyRecord.byID(found[4]),
                versions: Dictionary(uniqueKeysWithValues: versions),
                failing: try check.isEmpty
                    ? [] : Set(found[5].decode((String, UUID).self).map { AppendCondition(stream: StreamName($0), lastID: $1) })
            )
            if isBehind {
                var copies = try await ReadModelCopy.locked(projections, on: connection)
                try await ReadModelCopy.catchUp(&copies, on: connection)
            }
            let accepted = zip(batch, decisions).compactMap { $1 == .accepted ? $0 : nil }
            guard !accepted.isEmpty else {
                // The first append of a repeated one may not be on the synchronous standbys yet. A later commit waits for it.
                try await connection.run(
                    decisions.contains(where: \.isRepeat)
                        ? ["SELECT pg_logical_emit_message(true, 'humon', '')", "COMMIT"] : ["ROLLBACK"])
                return results(batch, decisions, firstPosition: 0)
            }
            let written = try await connection.run(statements(for: accepted) + ["COMMIT"])
            return results(batch, decisions, firstPosition: try written[0].decode(Int64.self)[0])
        }
    }

    /// Catches the read models up outside of the log's lock, so that little is left to do under it.
    /// - Throws: `FormatError` if this program cannot read a recorded event, `PostgresError` if the database is away,
    ///   ``ReadModelError/behind(_:)`` for any other failure, `CancellationError`
    private func catchUp() async throws {
        do {
            try await ReadModels(projections: projections, client: client, logger: logger).catchUp()
        } catch let error
            where error is CancellationError || error is FormatError || (error as? PostgresError)?.isUnavailability == true
        {
            throw error
        } catch {
            logger.error("a read model cannot be brought along", metadata: ["error": "\(error)"])
            throw ReadModelError.behind(projections.map { type(of: $0).schema }.joined(separator: ", "))
        }
    }

    private func statements(for batch: [AppendRequest]) -> [SQL] {
        let append: SQL = """
            SELECT log.append(
                \(batch.map(\.id)), \(batch.map(\.stream.description)), \(batch.map { $0.expectedVersion + 1 }),
                \(batch.map(\.stored.type)), \(batch.map { type(of: $0.event).writtenFormat(of: $0.stored.type) }),
                \(batch.map(\.recordedAt)), \(batch.map(\.stored.data)), \(batch.map { String(decoding: $0.metadata.utf8, as: UTF8.self) }),
                \(projections.map { type(of: $0).schema }), \(projections.map { type(of: $0).version })
            )
            """
        let commands = batch.compactMap { append in append.requestHash.map { (append, $0) } }
        let remember: [SQL] =
            commands.isEmpty
            ? []
            : [
                """
                INSERT INTO log.commands (id, fingerprint, stream, version) SELECT * FROM unnest(
                    \(commands.map(\.0.id)), \(commands.map(\.1.bytea)),
                    \(commands.map(\.0.stream.description)), \(commands.map { $0.0.expectedVersion + 1 })
                )
                """
            ]
        let envelopes = batch.map(\.envelope)
        return [append] + remember + projections.flatMap { $0.writes(for: envelopes, in: type(of: $0).schema) }.map(\.statement)
    }

    private func results(_ batch: [AppendRequest], _ decisions: [AppendDecision], firstPosition: Int64) -> [Result<
        AppendResult, any Error
    >] {
        var next = firstPosition
        var results: [Result<AppendResult, any Error>] = []
        for (append, decision) in zip(batch, decisions) {
            switch decision {
            case .accepted:
                results.append(.success(append.recorded(at: next)))
                next += 1
            case .repeats(let first): results.append(.success(first))
            case .repeatsInBatch(let index):
                results.append(
                    results[index].map {
                        AppendResult(position: $0.position, stream: $0.stream, version: $0.version, isRepeat: true)
                    }
                )
            case .conflicts(let conflict): results.append(.failure(conflict))
            case .failsCondition(let failure): results.append(.failure(failure))
            case .reusesKey: results.append(.failure(KeyReusedError()))
            }
        }
        return results
    }

    private func unknown(_ batch: [AppendRequest]) -> [Result<AppendResult, any Error>] {
        batch.map { _ in .failure(PostgresError.connectionLost(mayHaveRun: true)) }
    }

    /// An error of one append, such as a row that a read model refuses, must not fail the other appends. Only PostgreSQL reports
    /// such an error. Other errors, such as a recorded event that this program cannot read, concern the whole batch.
    private func failed(_ batch: [AppendRequest], with error: any Error) async -> [Result<AppendResult, any Error>] {
        let states: [SQLState?] = [.readModelOutOfStep, .undefinedTable]
        var error = states.contains((error as? PostgresError)?.sqlState ?? nil) ? ReadModelError.missing : error
        if (error as? PostgresError)?.sqlState == .lockNotAvailable { error = EventLogError.lockHeld }
        if let unreadable = error as? FormatError { error = ReadModelError.unreadable(unreadable) }
        let isOfOne = (error as? PostgresError)?.isUnavailability == false
        guard batch.count > 1, isOfOne else { return batch.map { _ in .failure(error) } }
        logger.error("a batch failed; its appends are tried one by one", metadata: ["error": "\(error)"])
        var results: [Result<AppendResult, any Error>] = []
        for append in batch { results.append(await self.append([append])[0]) }
        return results
    }
}

extension AppendDecision {
    fileprivate var isRepeat: Bool { if case .repeats = self { true } else { false } }
}

extension PostgresError {
    /// An id or a version is in the log already, the version before is missing, or a condition does not hold. The checked way finds
    /// out which append this concerns.
    fileprivate var concernsOneAppend: Bool {
        sqlState == .uniqueViolation || sqlState == .versionGap || sqlState == .conditionFails
    }
}

extension SQLState {
    /// Raised by `log.append`.
    fileprivate static let readModelOutOfStep = SQLState(rawValue: "HU001")
    fileprivate static let versionGap = SQLState(rawValue: "HU002")
    /// Raised by `log.require`.
    fileprivate static let conditionFails = SQLState(rawValue: "HU003")
}

extension Set<AppendCondition> {
    /// Takes the log's lock, and fails unless all conditions hold.
    fileprivate var requirement: SQL { "SELECT log.require(\(map(\.stream.description)), \(map(\.lastID)))" }

    /// Selects the conditions that do not hold.
    fileprivate var check: SQL { "SELECT stream, id FROM log.failing_conditions(\(map(\.stream.description)), \(map(\.lastID)))" }
}

extension AppendRequest {
    fileprivate func recorded(at position: Int64) -> AppendResult {
        AppendResult(position: position, stream: stream, version: expectedVersion + 1, isRepeat: false)
    }
}
