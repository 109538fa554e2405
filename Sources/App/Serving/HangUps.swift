internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Stops the server in order when its terminal closes, which the system tells it by SIGHUP. Otherwise the signal changes nothing.
struct HangUps: Service {
    /// SIGHUP, trapped since the process began to start.
    let signals: UnixSignalsSequence
    let logger: Logger
    private let hadTerminal = isatty(STDIN_FILENO) == 1

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                if hadTerminal, isatty(STDIN_FILENO) == 0 {
                    kill(getpid(), SIGTERM)
                } else {
                    logger.warning("SIGHUP changes nothing: restart the server, and it reads its settings again")
                }
            }
        }
        // The end of one service would end all services.
        try? await gracefulShutdown()
    }
}
