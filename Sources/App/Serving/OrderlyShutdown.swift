internal import Foundation
internal import HTTP
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Runs services until SIGTERM or SIGINT, and ends them in order and in time.
struct OrderlyShutdown: Sendable {
    /// Services that were cut off have so long to end; then the process does.
    static let cutOffSeconds = 5

    var drain: Drain
    /// From the signal on the node still serves, while it says that it is to be sent nothing more.
    var drainSeconds: Int
    /// From then on, until requests are cut off.
    var shutdownSeconds: Int
    var logger: Logger

    /// - Throws: ``CutOff``, and what the services fail with
    func run(_ services: [any Service]) async throws {
        var configuration = ServiceGroupConfiguration(services: services, logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(shutdownSeconds)
        let group = ServiceGroup(configuration: configuration)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask { await endsLate(at: signals, group) }
            let result: Result<Void, any Error>
            do { result = .success(try await group.run()) } catch { result = .failure(error) }
            tasks.cancelAll()
            if try await tasks.next() == true { throw CutOff(seconds: shutdownSeconds) }
            try result.get()
        }
    }

    /// Ends the services at the first signal, and the process at the second.
    /// - Returns: whether requests had to be cut off
    private func endsLate(at signals: UnixSignalsSequence, _ group: ServiceGroup) async -> Bool {
        var iterator = signals.makeAsyncIterator()
        guard let signal = await iterator.next() else { return false }
        drain.begin()
        logger.notice("stopping", metadata: ["signal": "\(signal)"])
        async let isLate = endsLate(group)
        if let second = await iterator.next() {
            LogSink.standardError.flush()
            _exit(Exit.signalled + second.rawValue)
        }
        return await isLate
    }

    private func endsLate(_ group: ServiceGroup) async -> Bool {
        guard await isOver(.seconds(drainSeconds)) else { return false }
        await group.triggerGracefulShutdown()
        guard await isOver(.seconds(shutdownSeconds)) else { return false }
        guard await isOver(.seconds(Self.cutOffSeconds)) else { return true }
        logger.critical("the services did not end in time")
        LogSink.standardError.flush()
        _exit(Exit.failed)
    }

    /// Whether the services still run after that time.
    private func isOver(_ time: Duration) async -> Bool { (try? await Task.sleep(for: time)) != nil }
}

/// Requests were still open when the time for them was over.
struct CutOff: Error, CustomStringConvertible {
    var seconds: Int
    var description: String { "Requests that were still open after \(seconds) s (HUMON_SHUTDOWN_SECONDS) were cut off." }
}
