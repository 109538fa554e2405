internal import DequeModule
public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. One query serves all callers that wait. The number of a caller that ends meanwhile is lost, so the
/// numbers have gaps.
///
/// Several callers at once are a sign that more follow: the query takes numbers for these too. The log may lose its end, and the
/// sequence give them again; then the version of the stream conflicts, and the command takes another number.
public final class IDAllocator: Sendable {
    private static let stockForEachCaller = 8

    private final class Stock: Sendable {
        let numbers = Mutex<Deque<Int64>>([])
    }

    private let batches: BatchedLookup<Int, Int64>
    private let stock = Stock()
    /// The number of the last caller.
    private let callers = Atomic(0)

    public init(_ sequence: IDSequence, client: PostgresClient) {
        batches = BatchedLookup { [stock] waiters in
            let stocked = waiters.count > 1 ? waiters.count * Self.stockForEachCaller : 0
            // The append that uses a number flushes the sequence's record too, which precedes its own. So this waits for no disk.
            let numbers = try await client.query(
                """
                SELECT nextval(\(sequence.name)::regclass)
                FROM set_config('synchronous_commit', 'off', true), generate_series(1, \(Int64(waiters.count + stocked)))
                """
            ).decode(Int64.self)
            stock.numbers.withLock { $0.append(contentsOf: numbers.dropFirst(waiters.count)) }
            return Dictionary(uniqueKeysWithValues: zip(waiters, numbers))
        }
    }

    /// - Throws: `PostgresError`, or `CancellationError` if the task is cancelled before it gets a number
    public func next() async throws -> Int64 {
        if let id = stock.numbers.withLock({ $0.popFirst() }) { return id }
        guard let id = try await batches.value(of: callers.add(1, ordering: .relaxed).newValue) else {
            preconditionFailure("the query has a row for each caller")
        }
        return id
    }
}
