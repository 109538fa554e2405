public import Logging
public import ServiceLifecycle

/// Keeps this program's read models in step with the log where another version of the program appends to it too, as during a
/// deploy; and says that they are being served.
///
/// An append changes the read models of its own program in its own transaction. Those of other versions are behind for as long
/// as it takes to hear of it: an announcement, or the watch's poll.
public final class ReadModelKeeper: Service {
    /// How often it says that they are served.
    private static let noteSeconds = 10.0
    /// Between two looks, so that a busy log is not asked for every append.
    private static let pauseSeconds = 0.02

    private let readModels: ReadModels
    private let watch: LogWatch
    private let logger: Logger

    /// - Parameter watch: must run
    public init(_ readModels: ReadModels, watch: LogWatch, logger: Logger) {
        self.readModels = readModels
        self.watch = watch
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var noted: ContinuousClock.Instant?
            for await _ in watch.wakes() {
                do {
                    if noted.map({ .now - $0 > .seconds(Self.noteSeconds) }) ?? true {
                        try await readModels.noteServed()
                        noted = .now
                    }
                    try await readModels.catchUp()
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("read models may be behind", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: .seconds(Self.pauseSeconds))
            }
        }
    }
}
