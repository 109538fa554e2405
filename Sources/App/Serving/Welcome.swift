internal import Foundation
internal import ServiceLifecycle

/// Says on standard output where the service is and how to try it, once it is ready.
struct Welcome: Service {
    /// Where the secret can be read, as words of a shell.
    enum SecretSource {
        case environment
        case file(path: String)
        /// That holds nothing else.
        case secretFile(path: String)
    }

    private let settings: Settings
    private let secret: SecretSource
    private let untilReady: @Sendable () async -> Void
    private let apiPorts = AsyncStream.makeStream(of: Int.self)
    private let adminPorts = AsyncStream.makeStream(of: Int.self)

    init(_ settings: Settings, secret: SecretSource, untilReady: @escaping @Sendable () async -> Void) {
        self.settings = settings
        self.secret = secret
        self.untilReady = untilReady
    }

    /// To be called when the servers listen.
    func apiRuns(on port: Int) { apiPorts.continuation.yield(port) }
    func adminRuns(on port: Int) { adminPorts.continuation.yield(port) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard let port = await apiPorts.stream.first(where: { _ in true }),
                let adminPort = await adminPorts.stream.first(where: { _ in true })
            else { return }
            await untilReady()
            guard !Task.isCancelled else { return }
            say(port: port, adminPort: adminPort)
        }
        // A service that ends ends them all.
        try? await gracefulShutdown()
    }

    /// The secret itself is never printed: the command reads it where it is.
    private func say(port: Int, adminPort: Int) {
        let secret =
            switch secret {
            case .environment: "$TB_APP_SECRET"
            case .file(let path): "$(sed -n 's/^TB_APP_SECRET=\\(.\\)/\\1/p' '\(path)')"
            case .secretFile(let path): "$(cat '\(path)')"
            }
        print(
            """
            humon serves on \(settings.socket ?? settings.address(port: port))
            For operators: \(settings.adminAddress(port: adminPort))/metrics
            Database: \(settings.databaseURL == nil ? "a private PostgreSQL in \(settings.data)" : "the one that DATABASE_URL names")
            Try it, in another terminal:

              curl\(settings.socket.map { " --unix-socket '\($0)'" } ?? "") -X POST -H "tb-app-secret: \(secret)" \(settings.address(port: port))/v1/users

            """
        )
        fflush(nil)
    }
}
