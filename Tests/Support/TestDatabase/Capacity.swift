/// Limits how many tests use databases and processes at the same time; the others wait. Without the limit hundreds of databases
/// and servers would share two cores, and time-outs would say more about the machine than about the code.
///
/// A test that needs several kinds takes them in one order, so that no two tests can wait for each other: browsers first, then
/// databases, then processes. Any other order is an error, in every run, not only in the one that would hang.
public actor Capacity {
    /// Limits browsers: one keeps two cores busy while it starts.
    public static let browsers = Capacity("browsers", rank: 0, limit: 1)
    /// Limits the databases of the shared PostgreSQL.
    public static let databases = Capacity("databases", rank: 1, limit: 8)
    /// Limits servers and clusters in processes of their own.
    public static let processes = Capacity("processes", rank: 2, limit: 4)

    public struct WrongOrder: Error, CustomStringConvertible {
        public let description: String
    }

    /// Time for a cancelled test to end.
    private static let graceTime = Duration.seconds(300)

    /// The capacity that the current task took last.
    @TaskLocal private static var held: Capacity?

    private nonisolated let name: String
    private nonisolated let rank: Int
    private nonisolated let limit: Int
    /// How long a test may hold one.
    private nonisolated let time: Duration
    private var free: Int
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// - Parameter time: far longer than a busy machine needs
    init(_ name: String, rank: Int, limit: Int, time: Duration = .seconds(900)) {
        self.name = name
        self.rank = rank
        self.limit = limit
        self.time = time
        free = limit
    }

    /// - Parameter count: taken together, since two tests that take one after the other could wait for each other
    /// - Throws: `WrongOrder` if the task holds this or a later kind already; `TimeoutError` if the body takes longer than 15 minutes; what
    ///   the body throws
    public nonisolated func use<Value>(_ count: Int = 1, _ body: () async throws -> Value) async throws -> Value {
        if let held = Self.held, held.rank >= rank {
            throw WrongOrder(description: "a test took \(name) while it held \(held.name): take \(name) first, and once")
        }
        precondition(count <= limit, "nobody could ever take \(count) of \(limit) \(name)")
        await take(count)
        do {
            let value = try await Self.$held.withValue(self) { try await bounded(body) }
            await give(count)
            return value
        } catch {
            await give(count)
            throw error
        }
    }

    /// Cancels the test if the body does not end in time, so that the test fails under its own name. Ends the run if the test ignores that.
    private nonisolated func bounded<Value>(_ body: () async throws -> Value) async throws -> Value {
        // The task lives while this function runs, and the watch ends before the function does.
        nonisolated(unsafe) let task = withUnsafeCurrentTask { $0 }
        let watch = Task {
            guard (try? await Task.sleep(for: time)) != nil else { return false }
            task?.cancel()
            guard (try? await Task.sleep(for: Self.graceTime)) == nil else {
                fatalError("a test held \(name) for \(time) and did not end when it was cancelled")
            }
            return true
        }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        watch.cancel()
        if await watch.value {
            throw TimeoutError(description: "the test held \(name) for \(time) and was cancelled")
        }
        return try result.get()
    }

    private func take(_ count: Int) async {
        guard !waiting.isEmpty || free < count else {
            free -= count
            return
        }
        await withCheckedContinuation { waiting.append((count, $0)) }
    }

    private func give(_ count: Int) {
        free += count
        while let next = waiting.first, next.count <= free {
            free -= next.count
            waiting.removeFirst().continuation.resume()
        }
    }
}
