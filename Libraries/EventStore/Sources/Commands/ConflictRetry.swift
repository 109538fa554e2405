/// Decides a command again after another writer has changed its stream. Attempts are limited and have a back-off, because each
/// one takes the log's lock.
struct ConflictRetry: Sendable {
    /// Attempts at most, the first one included. Their delays add up to six seconds at most.
    static let attempts = 30
    /// The longest delay before the second attempt; it doubles with every further one.
    static let firstDelaySeconds = 0.005
    /// The longest delay before any attempt.
    static let longestDelaySeconds = 0.25

    let dependencies: Dependencies

    /// Runs an attempt until it neither conflicts nor throws ``ReadModelLag``.
    /// - Parameter attempt: decides and appends; its argument is the conflict of an earlier attempt, if there was one
    /// - Returns: the first result that is no conflict
    /// - Throws: after the last attempt ``StreamContended`` for a conflict and ``ReadModelError/behind(_:)`` for a lag.
    ///   `CancellationError` and any other error of an attempt end the loop
    func run(_ attempt: (_ conflict: VersionConflict?) async throws -> AppendResult) async throws -> AppendResult {
        var conflict: VersionConflict?
        for number in 1... {
            do {
                let result = try await attempt(conflict)
                guard case .conflict(let found) = result else { return result }
                guard number < Self.attempts else { throw StreamContended(stream: found.stream) }
                conflict = found
            } catch let error as ReadModelLag {
                guard number < Self.attempts else { throw ReadModelError.behind(error.schema) }
            }
            // Jitter: commands that conflicted at the same time try again at different times.
            try await dependencies.sleep(.seconds(Self.longestDelaySeconds(before: number + 1) * dependencies.jitter()))
        }
        preconditionFailure("the last attempt returns or throws")
    }

    /// - Parameter attempt: 2 or more
    static func longestDelaySeconds(before attempt: Int) -> Double {
        // The cap is reached long before the shift could overflow.
        min(longestDelaySeconds, firstDelaySeconds * Double(1 << min(attempt - 2, 16)))
    }
}

/// An attempt has not appended, because the read model does not show yet the version that the decision needs.
public struct ReadModelLag: Error, Hashable {
    public var schema: String

    public init(schema: String) { self.schema = schema }
}

/// Other writers changed the stream before every attempt. The same command may succeed later.
public struct StreamContended: Error, Hashable, CustomStringConvertible {
    public var stream: StreamName

    public var description: String {
        "other writers changed the stream \(stream) before each of \(ConflictRetry.attempts) attempts"
    }
}
