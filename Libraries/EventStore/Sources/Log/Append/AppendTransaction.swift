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
    let client: PostgresClient
    let projections: [any Projection]
    let logger: Logger

    /// Returns a result for each append, in order. An append that is refused or fails does not affect the others. Nearly always one record
    /// answers all; the other steps are for refusals and lost connections.
    func append(_ batch: [AppendRequest]) async -> [Result<AppendResult, any Error>] {
        var state = BatchState(batch, at: .now)
        while let step = state.step {
            do {
                switch step {
                case .record(let round, let isBehind):
                    state.recorded(try await record(round.map { batch[$0] }, isBehind: isBehind), at: .now)
                case .lookUp(let asked):
                    state.found(try await answers(to: asked, of: batch, lost: state.mayBeRecorded), at: .now)
                case .wait:
                    logger.warning(
                        "the connection broke during an append; asking what became of it",
                        metadata: ["appends": .stringConvertible(state.mayBeRecorded.count)])
                    try? await Task.sleep(for: .milliseconds(50))
                    state.waited()
                }
            } catch {
                let limit = state.limit
                state.failed(error, at: .now)
                if state.limit < limit {
                    logger.error("a batch failed; its appends are tried one by one", metadata: ["error": "\(error)"])
                }
            }
        }
        return state.results
    }

    // MARK: Recording

    /// Records appends of which each can be decided without the others.
    ///
    /// PostgreSQL may still commit a transaction after its connection broke. Then ids and versions are taken, and a unique key rejects
    /// the second attempt.
    private func record(_ batch: [AppendRequest], isBehind: Bool) async throws -> [AppendResult] {
        if isBehind { try await catchUp() }
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
        // The streams that keep their version. An append without domain events is a command that ends so.
        let kept = batch.flatMap { append in append.streams.filter(\.events.isEmpty).map { (append, $0) } }
        let conditions = batch.conditions
        let append: SQL = """
            SELECT log.append(
                \(envelopes.map(\.id)), \(envelopes.map(\.stream.description)), \(envelopes.map(\.version)),
                \(stored.map(\.type)), \(stored.map(\.format)),
                \(envelopes.map(\.recordedAt)), \(stored.map(\.facts)), \(envelopes.map { String(decoding: $0.metadata.utf8, as: UTF8.self) }),
                \(stored.map(\.personal)), \(projections.map { type(of: $0).schema }),
                \(commands.map { $0?.requestHash?.bytea }), \(commands.map { $0?.owner?.description }),
                \(kept.map { $0.0.id }), \(kept.map { $0.0.stored.isEmpty ? $0.0.requestHash?.bytea : nil }),
                \(kept.map { $0.0.owner?.description }),
                \(kept.map { $0.1.stream.description }), \(kept.map { $0.1.expectedVersion }),
                \(conditions.map(\.stream.description)), \(conditions.map(\.lastID))
            )
            """
        return [append] + projections.flatMap { $0.writes(folding: envelopes, in: type(of: $0).schema) }.map(\.statement)
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
            appends.conditions.check, LogReader.versions(of: Array(streams)),
            "SELECT id, position, stream, version FROM log.recorded_events WHERE id = ANY(\(ids))", IdempotencyRecord.query(ids),
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
