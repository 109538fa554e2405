/// What this process has recorded, without what others have recorded before and after it.
public struct Commit: Sendable {
    /// Of the first; those of the others follow without a gap.
    public let firstPosition: Int64
    public private(set) var envelopes: [EventEnvelope<any DomainEvent>]

    public var through: Int64 { firstPosition + Int64(envelopes.count) - 1 }

    public var end: LogCursor { LogCursor(position: through, id: envelopes.last?.id) }

    /// - Parameter recorded: by position
    static func all(of recorded: [(position: Int64, envelope: EventEnvelope<any DomainEvent>)]) -> [Commit] {
        recorded.reduce(into: []) { commits, next in
            if let last = commits.last, last.through + 1 == next.position {
                commits[commits.count - 1].envelopes.append(next.envelope)
            } else {
                commits.append(Commit(firstPosition: next.position, envelopes: [next.envelope]))
            }
        }
    }
}

/// Is told at once of what this process records, so that it need not read it from the log.
public protocol CommitListener: Sendable {
    /// Called after the commit, and before anybody is answered who asked for it; not always in the order of the log, since
    /// two transactions are under way at a time. A commit whose answer was lost is not told: the log has it.
    func committed(_ commit: Commit)
}
