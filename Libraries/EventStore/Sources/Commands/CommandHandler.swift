public import Foundation
public import Postgres

/// Carries out commands: decides, appends, and decides again if another writer was faster.
///
/// A command under a key is carried out once. No query before the append looks for an earlier attempt: the log finds it, by the id of the
/// append, and answers with its result.
public struct CommandHandler: Sendable {
    private let log: EventLog
    private let database: PostgresClient
    private let dependencies: Dependencies
    private let retry: ConflictRetry

    /// - Parameter database: for queries
    public init(log: EventLog, database: PostgresClient, dependencies: Dependencies) {
        self.log = log
        self.database = database
        self.dependencies = dependencies
        retry = ConflictRetry(dependencies: dependencies)
    }

    public init(_ context: ModuleContext) {
        self.init(log: context.log, database: context.database, dependencies: context.dependencies)
    }

    /// Appends what the rule decides on the present state. If another writer changed the stream meanwhile, the rule decides again.
    ///
    /// The rule may refuse a repetition that it accepted the first time, because the first attempt changed the state. So a rejection stands
    /// only if the log has no result of the command, and if the conditions of the context hold.
    /// - Parameters:
    ///   - key: identifies a command that the caller may repeat
    ///   - decide: gets the conflict of an earlier attempt, if there was one. If the state that it reads is older, a ``StateReader`` catches
    ///     the read model up
    /// - Returns: the place of the last recorded event, and whether nothing was recorded now: the command was carried out before, or it
    ///   changes nothing
    /// - Throws: ``KeyReusedError``, ``FailedConditionError``, ``StreamContended``, the errors of ``EventLog/append(_:)``, and what `decide`
    ///   throws
    public func handle(
        _ context: CommandContext, key: IdempotencyRecordKey? = nil,
        _ decide: (_ conflict: VersionConflict?) async throws -> CommandDecision
    ) async throws -> (place: RecordedPlace, isRepeat: Bool) {
        let result: AppendResult
        do {
            result = try await retry.run { try await append(decide($0), context, key: key) }
        } catch let rejection as any Rejection {
            guard let earlier = try await earlierResult(context, key: key) else { throw rejection }
            result = earlier
        }
        switch result {
        case .appended(let place): return (place, false)
        case .repeated(let place): return (place, true)
        case .failedCondition(let condition): throw FailedConditionError(condition: condition)
        case .keyReused: throw KeyReusedError()
        case .conflict(let conflict): throw StreamContended(stream: conflict.stream)
        }
    }

    /// Appends what a rule decided, once.
    /// - Throws: the errors of ``EventLog/append(_:)``
    public func append(
        _ decision: CommandDecision, _ context: CommandContext, key: IdempotencyRecordKey? = nil
    ) async throws -> AppendResult {
        let result = try await log.append(
            AppendRequest(
                id: key?.id ?? decision.id ?? dependencies.newDomainEventID, requestHash: key?.requestHash,
                streams: decision.others + [decision.append], conditions: context.conditions + decision.conditions,
                recordedAt: dependencies.now(), metadata: context.metadata(actor: decision.actor)))
        if case .failedCondition(let failed) = result, decision.conditions.contains(failed) {
            let (stream, version) = (decision.append.stream, decision.append.expectedVersion)
            return .conflict(VersionConflict(stream: stream, expected: version, actual: version))
        }
        return result
    }

    /// The result of an earlier attempt of a refused command, or the condition that fails; `nil` if there is neither.
    private func earlierResult(_ context: CommandContext, key: IdempotencyRecordKey?) async throws -> AppendResult? {
        guard key != nil || !context.conditions.isEmpty else { return nil }
        let found = try await database.run([
            IdempotencyRecord.query(key.map { [$0.id] } ?? []), Set(context.conditions).check,
        ])
        if let failed = try AppendCondition.failing(in: found[1]).first { return .failedCondition(failed) }
        return try key.flatMap { key in try IdempotencyRecord.byID(found[0])[key.id]?.result(for: key.requestHash) }
    }
}

/// What a command records, as its rule decided.
public struct CommandDecision: Sendable {
    var append: StreamAppend
    var actor: Int64?
    var id: UUID?
    /// What is recorded together with the append, before it.
    public var others: [StreamAppend] = []
    /// What the decision relies on, besides the versions of its streams. If a condition fails, the rule decides again.
    public var conditions: [AppendCondition] = []

    /// - Parameters:
    ///   - events: empty if the stream is as the command wants it
    ///   - version: the version of the stream on which the rule decided; 0 if the stream does not exist
    ///   - actor: the id of the user who sent the command; `nil` if no user did
    ///   - id: names the last domain event, if the command has no key. The log records an id once; `nil` for a new one
    public init(_ events: [any DomainEvent], to stream: StreamName, after version: Int32, by actor: Int64?, id: UUID? = nil) {
        append = StreamAppend(events, to: stream, after: version)
        self.actor = actor
        self.id = events.isEmpty ? nil : id
    }

    /// - Parameter event: `nil` if the stream is as the command wants it
    public init(_ event: (any DomainEvent)?, to stream: StreamName, after version: Int32, by actor: Int64?, id: UUID? = nil) {
        self.init(event.map { [$0] } ?? [], to: stream, after: version, by: actor, id: id)
    }
}
