public import Logging
internal import Postgres
public import ServiceLifecycle

/// Holds the lock of the program's version while a server runs, on a connection of its own.
public final class FormatService: Service {
    /// Seconds between two statements that show whether the connection is still open.
    private static let pulseSeconds = 5.0

    private let registry: FormatRegistry
    private let logger: Logger

    /// - Parameter registry: takes one of its client's connections for good
    public init(_ registry: FormatRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
    }

    /// - Throws: ``FormatConflict`` where another version has begun to serve since this one was prepared. Later it is logged.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var (hasServed, logged) = (false, FormatConflict?.none)
            var backOff = BackOff(firstSeconds: 0.25, longestSeconds: 5)
            while !Task.isCancelled {
                do {
                    try await registry.register()
                    try await registry.whileServing { connection, conflict in
                        if let conflict, !hasServed { throw conflict }
                        if let conflict, conflict != logged {
                            logger.critical("another version of the program serves", metadata: ["error": "\(conflict)"])
                        }
                        (hasServed, logged) = (true, conflict)
                        backOff.reset()
                        while true {
                            try await Task.sleep(for: .seconds(Self.pulseSeconds))
                            try await connection.query("SELECT 1")
                        }
                    }
                } catch let conflict as FormatConflict {
                    throw conflict
                } catch is CancellationError {
                    return
                } catch {
                    logger.debug("not known as serving; trying again", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: backOff.next())
                }
            }
        }
    }
}
