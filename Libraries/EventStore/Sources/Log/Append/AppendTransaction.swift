internal import Encoding
internal import Foundation
internal import Logging
internal import Postgres

/// Records a batch and changes the read models, in one transaction.
///
/// All statements go together: no round trip happens under the log's lock, unless another version of the program has appended. The log
/// refuses a transaction for a taken id or version and for a condition that fails. A lookup without the lock then finds the appends that
/// this concerns, because all of that stays true in a log that only grows. The writer answers these, and sends the others again.
struct AppendTransaction: Sendable {
    /// Seconds after which no append is sent again that was refused, and seconds for which the writer looks for the result of a batch
    /// after its connection broke.
    static let resolveWithinSeconds = 5.0
    /// The number of refusals in a row without a reason that a lookup finds. One can happen: another writer fills the gap before a version.
    private static let unexplainedLimit = 3

    let client: PostgresClient
    let projections: [any Projection]
    let logger: Logger

    /// Returns a result for each append, in order. An append that is refused or fails does not affect the others.
    func append(_ batch: [AppendRequest]) async -> [Result<AppendResult, any Error>] {
        var results = [Result<AppendResult, any Error>?](repeating: nil, count: batch.count)
        let sendUntil = ContinuousClock.now + .seconds(Self.resolveWithinSeconds)
        // These are the appends of transactions whose connection broke, which may be recorded.
        var lost: Set<Int> = []
        var lookUntil: ContinuousClock.Instant?
        // Whether another version of the program has appended. Its appends do not change the read models of this version.
        var isBehind = false
        var (round, dependent): ([Int], [Int]) = ([], [])
        // The appends to look up before anything is sent again, and why the log refused the last transaction.
        var asked: [Int] = []
        var refusal: PostgresError?
        var unexplained = 0
        var limit = batch.count
        while case let open = batch.indices.filter({ results[$0] == nil }), !open.isEmpty {
            do {
                if asked.isEmpty {
                    (round, dependent) = batch.divided(open, limit: limit)
                    if isBehind { try await catchUp() }
                    do {
                        let recorded = try await record(round.map { batch[$0] }, isBehind: isBehind)
                        for (index, result) in zip(round, recorded) { results[index] = .success(result) }
                        (asked, refusal) = (dependent, nil)
                    } catch let error as PostgresError where error.isExplicable {
                        (asked, refusal) = (round + dependent, error)
                    } catch let error as PostgresError where error.mayHaveRun {
                        lost.formUnion(round)
                        throw error
                    }
                } else {
                    let answers = try await answers(to: asked, of: batch, lost: lost)
                    for (index, answer) in answers { results[index] = .success(answer) }
                    asked = []
                    unexplained = answers.isEmpty && refusal != nil ? unexplained + 1 : 0
                    // A read model has unique keys, too.
                    if let refusal, unexplained >= Self.unexplainedLimit {
                        unexplained = 0
                        throw refusal
                    }
                }
                guard ContinuousClock.now >= sendUntil else { continue }
                for index in open where results[index] == nil && !lost.contains(index) {
                    results[index] = .failure(EventLogError.expired)
                }
                asked.removeAll { results[$0] != nil }
            } catch let error as PostgresError where error.sqlState == .readModelOutOfStep && !isBehind {
                isBehind = true
            } catch is CancellationError {
                for index in open where results[index] == nil { results[index] = .failure(Self.unknown) }
            } catch {
                // Ids make it safe to send an append again until the database is back and knows its result. Only a refusal of
                // PostgreSQL's tells it.
                let isRefusal = (error as? PostgresError)?.isUnavailability == false
                if (error as? PostgresError)?.mayHaveRun == true || !lost.isEmpty && !isRefusal,
                    await mayGoOn(until: &lookUntil, appends: open.count)
                {
                    continue
                }
                let failing = round.filter { results[$0] == nil }
                let error = explained(error)
                // An error of one append, such as a row that a read model refuses, must not fail the others. Only PostgreSQL reports such
                // an error. Others, such as a refused lookup, or a recorded event that this program cannot read, concern the whole batch.
                let isOfOne = asked.isEmpty && isRefusal && error is PostgresError && !failing.isEmpty
                if isOfOne, failing.count > 1 {
                    logger.error("a batch failed; its appends are tried one by one", metadata: ["error": "\(error)"])
                    limit = 1
                    continue
                }
                for index in isOfOne ? failing : open where results[index] == nil {
                    results[index] = .failure(!isOfOne && lost.contains(index) ? Self.unknown : error)
                }
            }
        }
        return results.compactMap(\.self)
    }

    private static let unknown = PostgresError.connectionLost(mayHaveRun: true)

    /// Waits a moment after a connection broke.
    /// - Parameter deadline: `nil` at the first time
    /// - Returns: whether there is time to look for the result
    private func mayGoOn(until deadline: inout ContinuousClock.Instant?, appends: Int) async -> Bool {
        let clock = ContinuousClock()
        let end = deadline ?? clock.now + .seconds(Self.resolveWithinSeconds)
        deadline = end
        guard clock.now < end else { return false }
        logger.warning(
            "the connection broke during an append; asking what became of it", metadata: ["appends": .stringConvertible(appends)])
        try? await clock.sleep(for: .milliseconds(50))
        return true
    }

    /// Returns the error that the callers get.
    private func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as PostgresError where error.sqlState == .readModelOutOfStep || error.sqlState == .undefinedTable:
            ReadModelError.missing
        case let error as PostgresError where error.sqlState == .lockNotAvailable: EventLogError.lockHeld
        case let error as FormatError: ReadModelError.unreadable(error)
        default: error
        }
    }

    // MARK: Recording

    /// Records appends of which each can be decided without the others.
    ///
    /// PostgreSQL may still commit a transaction after its connection broke. Then ids and versions are taken, and a unique key rejects
    /// the second attempt.
    private func record(_ batch: [AppendRequest], isBehind: Bool) async throws -> [AppendResult] {
        let statements = statements(for: batch)
        guard isBehind else { return try results(of: batch, await client.run(statements)) }
        return try await client.withConnection { connection in
            try await connection.run(["BEGIN", "SELECT log.lock()"])
            var copies = try await ReadModelCopy.locked(projections, on: connection)
            try await ReadModelCopy.catchUp(&copies, on: connection)
            return try results(of: batch, await connection.run(statements + ["COMMIT"]))
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
        let envelopes = batch.flatMap(\.envelopes)
        let stored = batch.flatMap(\.stored)
        // The last event of an append has its id, and answers it.
        let keyed = batch.flatMap { append in
            append.stored.indices.map { $0 == append.stored.count - 1 && append.requestHash != nil ? append : nil }
        }
        let commands = keyed.allSatisfy { $0 == nil } ? [] : keyed
        let ended = batch.filter(\.stored.isEmpty)
        let conditions = batch.conditions
        let append: SQL = """
            SELECT log.append(
                \(envelopes.map(\.id)), \(envelopes.map(\.stream.description)), \(envelopes.map(\.version)),
                \(stored.map(\.type)), \(stored.map(\.format)),
                \(envelopes.map(\.recordedAt)), \(stored.map(\.facts)), \(envelopes.map { String(decoding: $0.metadata.utf8, as: UTF8.self) }),
                \(stored.map(\.personal)), \(projections.map { type(of: $0).schema }), \(projections.map { type(of: $0).version }),
                \(commands.map { $0?.requestHash?.bytea }), \(commands.map { $0?.owner?.description }),
                \(ended.map(\.id)), \(ended.map { $0.requestHash?.bytea }), \(ended.map { $0.owner?.description }),
                \(ended.map(\.last.stream.description)), \(ended.map(\.last.version)),
                \(conditions.map(\.stream.description)), \(conditions.map(\.lastID))
            )
            """
        return [append] + projections.flatMap { $0.writes(for: envelopes, in: type(of: $0).schema) }.map(\.statement)
    }

    /// - Parameter rows: the rows of ``statements(for:)``
    private func results(of batch: [AppendRequest], _ rows: [Rows]) throws -> [AppendResult] {
        var last = try rows[0].decode(Int64.self)[0] - 1
        let tail = batch.reduce(last) { $0 + Int64($1.stored.count) }
        return batch.map { append in
            guard !append.stored.isEmpty else { return .repeated(append.place(at: tail)) }
            last += Int64(append.stored.count)
            return .appended(append.place(at: last))
        }
    }

    // MARK: Looking up

    /// Finds the appends that the log refuses, or has already.
    ///
    /// A repetition must meet its conditions too: a token that died gets no response of its commands. A lost append may be its own
    /// repetition, which met its conditions.
    /// - Parameter indices: of the appends to look for
    private func answers(to indices: [Int], of batch: [AppendRequest], lost: Set<Int>) async throws -> [Int: AppendResult] {
        guard !indices.isEmpty else { return [:] }
        let appends = indices.map { batch[$0] }
        let ids = Array(Set(appends.map(\.id)))
        let streams = Set(appends.flatMap { $0.streams.map(\.stream.description) })
        // In this order. A lost append may be recorded meanwhile. If a condition fails here, the append was recorded before and the later
        // statements find it, or it never will be.
        let found = try await client.run([
            appends.conditions.check, "SELECT stream, version FROM log.versions(\(Array(streams)))",
            "SELECT id, position, stream, version FROM log.recorded(\(ids))", IdempotencyRecord.query(ids),
        ])
        let failing = try AppendCondition.failing(in: found[0])
        let versions = Dictionary(uniqueKeysWithValues: try found[1].decode((String, Int32).self))
        let recorded = try found[2].decode((UUID, Int64, String, Int32).self).map { id, position, stream, version in
            (id, RecordedPlace(position: position, stream: StreamName(stream), version: version))
        }
        let places = Dictionary(uniqueKeysWithValues: recorded)
        let records = try IdempotencyRecord.byID(found[3])
        var answers: [Int: AppendResult] = [:]
        for (index, append) in zip(indices, appends) {
            let known = records[append.id].map { $0.result(for: append.requestHash) } ?? places[append.id].map { .repeated($0) }
            if let known, lost.contains(index) {
                answers[index] = known
            } else if let failed = append.conditions.first(where: failing.contains) {
                answers[index] = .failedCondition(failed)
            } else {
                answers[index] = known ?? append.conflict(with: versions)
            }
        }
        // The first append of a repeated one may not be on the synchronous standbys yet. A later commit waits for it.
        if answers.values.contains(where: { if case .repeated = $0 { true } else { false } }) {
            try await client.query("SELECT pg_logical_emit_message(true, 'log', '')")
        }
        return answers
    }
}

extension AppendRequest {
    /// - Parameter versions: of the streams that exist
    /// - Returns: `nil` if all streams have the expected versions
    fileprivate func conflict(with versions: [String: Int32]) -> AppendResult? {
        streams.lazy.compactMap { part -> AppendResult? in
            let actual = versions[part.stream.description] ?? 0
            guard actual != part.expectedVersion else { return nil }
            return .conflict(VersionConflict(stream: part.stream, expected: part.expectedVersion, actual: actual))
        }.first
    }
}

extension PostgresError {
    /// An id or a version is in the log already, a stream has another version, or a condition does not hold. A lookup finds out which
    /// append this concerns.
    fileprivate var isExplicable: Bool {
        sqlState == .uniqueViolation || sqlState == .otherVersion || sqlState == .conditionFails
    }
}

/// Raised by `log.append`.
extension SQLState {
    fileprivate static let readModelOutOfStep = SQLState(rawValue: "HU001")
    fileprivate static let otherVersion = SQLState(rawValue: "HU002")
    fileprivate static let conditionFails = SQLState(rawValue: "HU003")
}
