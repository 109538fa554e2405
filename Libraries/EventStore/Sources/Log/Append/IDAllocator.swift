public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. One query serves all callers that wait. The number of a caller that ends meanwhile is lost, so the
/// numbers have gaps.
public final class IDAllocator: Sendable {
    private let batches: BatchedLookup<Int, Int64>
    /// The number of the last caller.
    private let callers = Atomic(0)

    public init(_ sequence: IDSequence, client: PostgresClient) {
        batches = BatchedLookup { waiters in
            // The append that uses a number flushes the sequence's record too, which precedes its own. So this waits for no disk.
            let numbers = try await client.query(
                """
                SELECT nextval(\(sequence.name)::regclass)
                FROM set_config('synchronous_commit', 'off', true), generate_series(1, \(Int64(waiters.count)))
                """
            ).decode(Int64.self)
            return Dictionary(uniqueKeysWithValues: zip(waiters, numbers))
        }
    }

    /// - Throws: `PostgresError`, or `CancellationError` if the task is cancelled before it gets a number
    public func next() async throws -> Int64 {
        guard let id = try await batches.value(of: callers.add(1, ordering: .relaxed).newValue) else {
            preconditionFailure("the query has a row for each caller")
        }
        return id
    }
}
