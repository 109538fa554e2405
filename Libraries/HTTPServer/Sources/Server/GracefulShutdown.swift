internal import Foundation
public import Logging
public import ServiceLifecycle
internal import UnixSignals

/// Runs services until SIGTERM or SIGINT, and ends them in order and within a time limit.
public struct GracefulShutdown: Sendable {
    /// Seconds that services have to end after their requests were cut off; then the process ends.
    private static let cutOffSeconds = 5
    /// The exit status after a signal is this number plus the signal's number.
    private static let signalledStatus: Int32 = 128
    private static let failedStatus: Int32 = 1

    private let drain: Drain
    private let drainSeconds: Int
    private let shutdownSeconds: Int
    private let logger: Logger
    private let beforeExit: @Sendable () -> Void

    /// - Parameters:
    ///   - drainSeconds: the time after the signal in which the server responds but reports that it is not ready
    ///   - shutdownSeconds: the time after that in which open requests may end
    ///   - beforeExit: called before the process ends without ending its services
    public init(
        drain: Drain, drainSeconds: Int, shutdownSeconds: Int, logger: Logger, beforeExit: @escaping @Sendable () -> Void = {}
    ) {
        self.drain = drain
        self.drainSeconds = drainSeconds
        self.shutdownSeconds = shutdownSeconds
        self.logger = logger
        self.beforeExit = beforeExit
    }

    /// - Throws: ``RequestsCutOff``, and the error that a service failed with
    public func run(_ services: [any Service]) async throws {
        try await run(services, at: await UnixSignalsSequence(trapping: .sigterm, .sigint))
    }

    /// Runs the services until the first of the signals.
    func run(_ services: [any Service], at signals: some AsyncSequence<UnixSignal, Never> & Sendable) async throws {
        var configuration = ServiceGroupConfiguration(services: services, logger: logger)
        // A little later than the end of the time below, which tells whether requests were cut off.
        configuration.maximumGracefulShutdownDuration = .seconds(shutdownSeconds) + .milliseconds(200)
        let group = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask { await endsLate(at: signals, group) }
            let result: Result<Void, any Error>
            do { result = .success(try await group.run()) } catch { result = .failure(error) }
            tasks.cancelAll()
            if try await tasks.next() == true { throw RequestsCutOff(seconds: shutdownSeconds) }
            try result.get()
        }
    }

    /// Ends the services at the first signal, and the process at the second.
    /// - Returns: whether requests had to be cut off
    private func endsLate(at signals: some AsyncSequence<UnixSignal, Never>, _ group: ServiceGroup) async -> Bool {
        var iterator = signals.makeAsyncIterator()
        guard let signal = await iterator.next(isolation: nil) else { return false }
        drain.begin()
        logger.notice("stopping", metadata: ["signal": "\(signal)"])
        async let isLate = endsLate(group)
        if let second = await iterator.next(isolation: nil) {
            beforeExit()
            _exit(Self.signalledStatus + second.rawValue)
        }
        return await isLate
    }

    private func endsLate(_ group: ServiceGroup) async -> Bool {
        guard await isOver(.seconds(drainSeconds)) else { return false }
        await group.triggerGracefulShutdown()
        guard await isOver(.seconds(shutdownSeconds)) else { return false }
        guard await isOver(.seconds(Self.cutOffSeconds)) else { return true }
        logger.critical("the services did not end in time")
        beforeExit()
        _exit(Self.failedStatus)
    }

    /// Whether the services still run after this time.
    private func isOver(_ time: Duration) async -> Bool { (try? await Task.sleep(for: time)) != nil }
}

/// The time was over while requests were still open.
public struct RequestsCutOff: Error, CustomStringConvertible {
    public var seconds: Int
    public var description: String { "Requests that were still open after \(seconds) s were cut off." }
}
