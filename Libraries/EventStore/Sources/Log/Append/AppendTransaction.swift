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
                return try await direct(batch).map { .success($0) }
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
                return try await checked(batch, mayBeRecorded: isFateUnknown, isBehind: isBehind).map { .success($0) }
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

    private func direct(_ batch: [AppendRequest]) async throws -> [AppendResult] {
        let lock = lock(for: batch)
        let rows = try await client.run(lock + statements(for: batch))
        return try results(of: batch, rows.dropFirst(lock.count))
    }

    /// PostgreSQL may still commit a transaction after its connection broke. Then ids and versions are taken, and a unique key
    /// rejects the second attempt.
    private func checked(_ batch: [AppendRequest], mayBeRecorded: Bool, isBehind: Bool) async throws -> [AppendResult] {
        if isBehind { try await catchUp() }
        let ids = Array(Set(batch.map(\.id)))
        let streams = Set(batch.flatMap { $0.streams.map(\.stream.description) })
        return try await client.withConnection { connection in
            let found = try await connection.run([
                "BEGIN", "SELECT log.lock()",
                "SELECT id, position, stream, version FROM log.recorded(\(ids))",
                "SELECT stream, version FROM log.versions(\(Array(streams)))",
                IdempotencyRecord.query(ids), batch.conditions.check,
            ])
            let recorded = try found[2].decode((UUID, Int64, String, Int32).self).map { id, position, stream, version in
                (id, RecordedPlace(position: position, stream: StreamName(stream), version: version))
            }
            let versions = try found[3].decode((String, Int32).self).map { (StreamName($0), $1) }
            let decisions = decisions(
                on: batch, recorded: Dictionary(uniqueKeysWithValues: recorded), records: try IdempotencyRecord.byID(found[4]),
                versions: Dictionary(uniqueKeysWithValues: versions), failing: try AppendCondition.failing(in: found[5]),
                mayBeRecorded: mayBeRecorded)
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
                return results(of: decisions, accepted: [])
            }
            let written = try await connection.run(statements(for: accepted) + ["COMMIT"])
            return results(of: decisions, accepted: try results(of: accepted, written[...]))
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

    // MARK: Statements

    /// The statements before those of ``statements(for:)``, which take the log's lock and check the conditions. `log.append` takes the lock
    /// by itself.
    private func lock(for batch: [AppendRequest]) -> [SQL] {
        let conditions = batch.conditions
        if !conditions.isEmpty { return [conditions.requirement] }
        return batch.allSatisfy(\.stored.isEmpty) ? ["SELECT log.lock()"] : []
    }

    /// ``results(of:_:)`` reads their rows. At most four statements stand before those of the projections.
    private func statements(for batch: [AppendRequest]) -> [SQL] {
        let (changes, endings) = batch.separated
        let envelopes = changes.flatMap(\.envelopes)
        var statements: [SQL] = []
        if !changes.isEmpty {
            let stored = changes.flatMap(\.stored)
            statements.append(
                """
                SELECT log.append(
                    \(envelopes.map(\.id)), \(envelopes.map(\.stream.description)), \(envelopes.map(\.version)),
                    \(stored.map(\.type)), \(stored.map(\.format)),
                    \(envelopes.map(\.recordedAt)), \(stored.map(\.facts)), \(envelopes.map { String(decoding: $0.metadata.utf8, as: UTF8.self) }),
                    \(stored.map(\.personal?.text)), \(stored.map { $0.personal.map { Bytea(bytes: Array($0.digest)) } }),
                    \(projections.map { type(of: $0).schema }), \(projections.map { type(of: $0).version })
                )
                """)
        }
        if !endings.isEmpty { statements.append(endings.ending) }
        let commands = changes.compactMap { append in append.requestHash.map { (append, $0) } }
        if !commands.isEmpty {
            statements.append(
                """
                INSERT INTO log.commands (id, request_hash, stream, version) SELECT * FROM unnest(
                    \(commands.map(\.0.id)), \(commands.map(\.1.bytea)),
                    \(commands.map(\.0.last.stream.description)), \(commands.map(\.0.last.version))
                )
                """)
        }
        let erased = changes.flatMap(\.erasedStreams)
        if !erased.isEmpty { statements.append("SELECT log.erase(\(erased.map(\.description)))") }
        return statements + projections.flatMap { $0.writes(for: envelopes, in: type(of: $0).schema) }.map(\.statement)
    }

    /// - Parameter rows: the rows of ``statements(for:)``
    private func results(of batch: [AppendRequest], _ rows: ArraySlice<Rows>) throws -> [AppendResult] {
        let (changes, endings) = batch.separated
        var rows = rows
        let first = try changes.isEmpty ? [] : rows.removeFirst().decode(Int64.self)
        var next = first.first ?? 0
        var versions = try (endings.isEmpty ? [] : rows.removeFirst().decode((Int32, Int64).self))[...]
        return batch.map { append in
            guard append.stored.isEmpty else {
                next += Int64(append.stored.count)
                return .appended(append.place(at: next - 1))
            }
            let (actual, tail) = versions.removeFirst()
            let (stream, expected) = (append.last.stream, append.last.expectedVersion)
            return actual == expected
                ? .repeated(append.place(at: tail))
                : .conflict(VersionConflict(stream: stream, expected: expected, actual: actual))
        }
    }

    /// - Parameter accepted: the results of the accepted appends, in order
    private func results(of decisions: [AppendDecision], accepted: [AppendResult]) -> [AppendResult] {
        var accepted = accepted[...]
        var results: [AppendResult] = []
        for decision in decisions {
            switch decision {
            case .accepted: results.append(accepted.removeFirst())
            case .repeatsInBatch(let index): results.append(results[index].place.map { .repeated($0) } ?? results[index])
            case .ended(let result): results.append(result)
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
    fileprivate var isRepeat: Bool { if case .ended(.repeated) = self { true } else { false } }
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

extension [AppendRequest] {
    /// The appends with domain events, and those without.
    fileprivate var separated: (changes: [AppendRequest], endings: [AppendRequest]) {
        (filter { !$0.stored.isEmpty }, filter(\.stored.isEmpty))
    }

    /// Remembers commands that change nothing under their keys, if their streams have the expected versions. Selects the present version
    /// of each stream, in order, and the end of the log.
    fileprivate var ending: SQL {
        """
        WITH ended AS (
            SELECT e.*, coalesce((SELECT v.version FROM log.versions(ARRAY[e.stream]) AS v), 0) AS actual
            FROM unnest(
                \(map(\.id)), \(map { $0.requestHash?.bytea }), \(map(\.last.stream.description)), \(map(\.last.version))
            ) WITH ORDINALITY AS e (id, request_hash, stream, version, number)
        ), remembered AS (
            INSERT INTO log.commands (id, request_hash, stream, version)
            SELECT id, request_hash, stream, version FROM ended WHERE request_hash IS NOT NULL AND actual = version
        )
        SELECT actual, log.tail() FROM ended ORDER BY number
        """
    }
}
