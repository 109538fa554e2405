public import Logging
internal import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Keeps this program's read models in step with the log while another version of the program appends to it, as during a deploy.
///
/// An append changes the read models of its own program in its own transaction. A program of another version updates its read
/// models when it is woken, by a notification or by the notifier's interval.
public final class ProjectionRunner: Service {
    /// Seconds between two looks for copies to drop.
    private static let forgetSeconds = 60.0
    /// Minimum seconds between two attempts to catch up, so that a busy log does not cause a query for every append. The pause is
    /// short while another version appends, and long while this version alone does, because its appends need no catch-up, and after a
    /// failure.
    private static let pauseSeconds = (behind: 0.02, inStep: 0.25, failed: 1.0)

    /// A read model that could not follow the log.
    private struct Failure {
        /// The description of the error.
        var description: String
        /// Whether this program cannot read the next recorded event.
        var isUnreadable: Bool
    }

    private let readModels: ReadModels
    private let notifier: LogNotifier
    private let logger: Logger
    private let blocked = Atomic(false)

    /// Whether a read model stands before a recorded event that this program cannot read. That event may erase a person, so that no
    /// request may be answered from what the process has.
    public var isBlocked: Bool { blocked.load(ordering: .relaxed) }

    /// - Parameter notifier: must run
    public init(_ readModels: ReadModels, notifier: LogNotifier, logger: Logger) {
        self.readModels = readModels
        self.notifier = notifier
        self.logger = logger
    }

    /// Follows the log until shutdown begins.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.follow() }
                group.addTask { await self.forget() }
            }
        }
    }

    private func follow() async {
        var failures: [String: Failure] = [:]
        for await _ in notifier.wakes() {
            var pauseSeconds = Self.pauseSeconds.failed
            do {
                let wasBehind = try await catchUp(&failures)
                if failures.isEmpty { pauseSeconds = wasBehind ? Self.pauseSeconds.behind : Self.pauseSeconds.inStep }
            } catch is CancellationError {
                return
            } catch {
                logger.warning("read models may be behind", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(pauseSeconds))
        }
    }

    /// Drops replaced tables, and copies that lack an erasure. No erasure waits for them, because a reader may hold their locks. Without
    /// such a reader no copy keeps the words for longer than a day.
    private func forget() async {
        while true {
            do {
                // Not all nodes at once.
                try await Task.sleep(for: .seconds(Self.forgetSeconds * .random(in: 0.5...1)))
                try await readModels.forget()
            } catch is CancellationError {
                return
            } catch {
                logger.warning("copies of read models may lack an erasure", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Catches up all read models. If one cannot follow, the others go on.
    /// - Returns: whether a read model was behind
    private func catchUp(_ failures: inout [String: Failure]) async throws -> Bool {
        let (wasBehind, errors) = try await readModels.catchUpEach()
        let known = failures
        failures = [:]
        for (schema, error) in errors {
            let isUnreadable = error is FormatError || known[schema]?.isUnreadable == true
            failures[schema] = Failure(description: "\(error)", isUnreadable: isUnreadable)
            guard known[schema]?.description != "\(error)" else { continue }
            logger.error("a read model cannot follow the log", metadata: ["schema": "\(schema)", "error": "\(error)"])
        }
        blocked.store(failures.values.contains(where: \.isUnreadable), ordering: .relaxed)
        return wasBehind
    }
}
