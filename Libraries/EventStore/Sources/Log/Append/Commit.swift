/// The recorded events of one commit of this process.
public struct Commit: Sendable {
    /// The position of the first recorded event; the others follow without a gap.
    public let firstPosition: Int64
    public private(set) var envelopes: [EventEnvelope<any DomainEvent>]

    public var through: Int64 { firstPosition + Int64(envelopes.count) - 1 }

    public var end: LogCursor { envelopes.last.map { LogCursor(position: through, of: $0) } ?? LogCursor(position: through) }

    /// Makes one commit of each series of contiguous positions.
    /// - Parameter recorded: in any order
    static func all(of recorded: [(position: Int64, envelope: EventEnvelope<any DomainEvent>)]) -> [Commit] {
        recorded.sorted { $0.position < $1.position }.reduce(into: []) { commits, next in
            if let last = commits.last, last.through + 1 == next.position {
                commits[commits.count - 1].envelopes.append(next.envelope)
            } else {
                commits.append(Commit(firstPosition: next.position, envelopes: [next.envelope]))
            }
        }
    }
}

/// Gets the commits of this process directly, so that it need not read them from the log.
public protocol CommitListener: Sendable {
    /// Called after the commit and before the callers get their results. Two transactions may run at a time, so the order of
    /// calls may differ from the order of the log. If the result of a commit is lost, no call follows.
    func committed(_ commit: Commit)
}
