public import Foundation
public import Postgres

/// Carries out commands: decides, appends, and decides again if another writer was faster.
///
/// A command under a key is carried out once. No query before the append looks for an earlier attempt: the log finds it, by the id of the
/// append, and answers with its result.
public struct CommandHandler: Sendable {
    /// Attempts at most, the first one included. Their delays add up to six seconds at most.
    static let attempts = 30
    /// The longest delay before the second attempt; it doubles with every further one.
    static let firstDelaySeconds = 0.005
    /// The longest delay before any attempt.
    static let longestDelaySeconds = 0.25

    private let log: EventLog
    private let database: PostgresClient
    private let dependencies: Dependencies
    private let state: StateReader
    /// Makes the ids of commands under a key, and those of the module's secrets.
    public let pepper: Pepper

    /// - Parameters:
    ///   - database: for queries
    ///   - state: of the read model on which the rules decide
    public init(log: EventLog, database: PostgresClient, dependencies: Dependencies, state: StateReader) {
        self.log = log
        self.database = database
        self.dependencies = dependencies
        self.state = state
        pepper = Pepper(database: database, history: log.history)
    }

    /// - Parameter state: of the read model on which the rules decide
    public init(_ composition: Composition, state: StateReader) {
        self.init(log: composition.log, database: composition.database, dependencies: composition.dependencies, state: state)
    }

    /// Appends what the rule decides on the present state. If another writer changed the stream meanwhile, the rule decides again, on a
    /// read model that shows the change. Attempts are limited and have a back-off, because each one takes the log's lock.
    ///
    /// The rule may refuse a repetition that it accepted the first time, because the first attempt changed the state. So a rejection stands
    /// only if the log has no result of the command, and if the conditions of the context hold.
    /// - Parameters:
    ///   - caller: the stream of the person whose key the context may have: keys of different persons are different keys. `nil` for a
    ///     command that has no key
    ///   - decide: called again after a conflict
    /// - Returns: the place of the last recorded event, and whether nothing was recorded now: the command was carried out before, or it
    ///   changes nothing
    /// - Throws: ``KeyReusedError``, ``FailedConditionError``, ``StreamContended``, ``ReadModelError/behind(_:)``, the errors of
    ///   ``EventLog/append(_:)`` and ``Pepper/id(of:)``, and what `decide` throws
    public func handle(
        _ context: CommandContext, by caller: StreamName? = nil, _ decide: () async throws -> Decision
    ) async throws -> (place: RecordedPlace, isRepeat: Bool) {
        var id: UUID?
        if let name = caller.flatMap({ context.commandName(of: $0) }) { id = try await pepper.id(of: name) }
        let result: AppendResult
        do {
            result = try await self.result(context, id, caller, decide)
        } catch let rejection as any Rejection {
            guard let earlier = try await earlierResult(context, id) else { throw rejection }
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

    /// Appends what a rule decided, once and without a key.
    /// - Throws: the errors of ``EventLog/append(_:)``
    public func append(_ decision: Decision, _ context: CommandContext) async throws -> AppendResult {
        try await append(decision, context, nil, nil)
    }

    /// Returns the first result that is no conflict, or that of the last attempt.
    private func result(
        _ context: CommandContext, _ id: UUID?, _ caller: StreamName?, _ decide: () async throws -> Decision
    ) async throws -> AppendResult {
        for number in 1... {
            if number > 1 {
                // Jitter: commands that conflicted at the same time try again at different times.
                try await dependencies.sleep(.seconds(Self.longestDelaySeconds(before: number) * dependencies.jitter()))
                // Another version of the program may have appended, which leaves the tables of this version behind.
                guard try await state.reachesEnd() else {
                    if number == Self.attempts { throw ReadModelError.behind(state.schema) }
                    continue
                }
            }
            let result = try await append(decide(), context, id, caller)
            guard case .conflict = result, number < Self.attempts else { return result }
        }
        preconditionFailure("the last attempt returns or throws")
    }

    /// - Parameter attempt: 2 or more
    static func longestDelaySeconds(before attempt: Int) -> Double {
        // The cap is reached long before the shift could overflow.
        min(longestDelaySeconds, firstDelaySeconds * Double(1 << min(attempt - 2, 16)))
    }

    /// - Parameter id: the id of a command under a key, which the log records once
    private func append(
        _ decision: Decision, _ context: CommandContext, _ id: UUID?, _ caller: StreamName?
    ) async throws -> AppendResult {
        try await log.append(
            AppendRequest(
                id: id ?? decision.id ?? dependencies.newDomainEventID, requestHash: id.flatMap { _ in context.key?.requestHash },
                owner: caller, streams: decision.streams, conditions: context.conditions, recordedAt: dependencies.now(),
                metadata: context.metadata(actor: decision.actor)))
    }

    /// The result of an earlier attempt of a refused command, or the condition that fails; `nil` if there is neither.
    private func earlierResult(_ context: CommandContext, _ id: UUID?) async throws -> AppendResult? {
        guard id != nil || !context.conditions.isEmpty else { return nil }
        let found = try await database.run([
            IdempotencyRecord.query(id.map { [$0] } ?? []), Set(context.conditions).check,
        ])
        if let failed = try AppendCondition.failing(in: found[1]).first { return .failedCondition(failed) }
        guard let id, let key = context.key else { return nil }
        return try IdempotencyRecord.byID(found[0])[id]?.result(for: key.requestHash)
    }
}

/// What a rule decided: what its command records.
public struct Decision: Sendable {
    let streams: [StreamAppend]
    var actor: Int64?
    var id: UUID?

    /// - Parameters:
    ///   - events: empty if the stream is as the command wants it
    ///   - version: the version of the stream on which the rule decided; 0 if the stream does not exist
    ///   - actor: the id of the user who sent the command; `nil` if no user did
    ///   - id: names the last domain event, if the command has no key. The log records an id once; `nil` for a new one
    public init(_ events: [any DomainEvent], to stream: StreamName, after version: Int32, by actor: Int64?, id: UUID? = nil) {
        self.init([StreamAppend(events, to: stream, after: version)], by: actor, id: id)
    }

    /// - Parameters:
    ///   - streams: the last one that gets domain events answers the command. The append requires the version of each
    ///   - actor: the id of the user who sent the command; `nil` if no user did
    ///   - id: names the last domain event, as above
    public init(_ streams: [StreamAppend], by actor: Int64?, id: UUID? = nil) {
        let changed = streams.filter { !$0.events.isEmpty }
        self.streams = changed.isEmpty ? Array(streams.suffix(1)) : streams.filter(\.events.isEmpty) + changed
        self.actor = actor
        self.id = changed.isEmpty ? nil : id
    }

    /// - Parameter event: `nil` if the stream is as the command wants it
    public init(_ event: (any DomainEvent)?, to stream: StreamName, after version: Int32, by actor: Int64?, id: UUID? = nil) {
        self.init(event.map { [$0] } ?? [], to: stream, after: version, by: actor, id: id)
    }
}

/// Other writers changed the stream before every attempt. The same command may succeed later.
public struct StreamContended: Error, Hashable, CustomStringConvertible {
    public var stream: StreamName

    public init(stream: StreamName) { self.stream = stream }

    public var description: String { "other writers changed the stream \(stream) before each attempt" }
}
