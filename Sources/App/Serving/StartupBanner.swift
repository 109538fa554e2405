internal import Foundation
internal import HTTP
internal import ServiceLifecycle
internal import Web

/// Prints the addresses of the service and an example request to standard output, once the service is ready.
struct StartupBanner: Service {
    let settings: Settings
    /// The place of the app's secret, for the example request.
    let secret: SettingSource?
    let untilReady: @Sendable () async -> Void
    /// Whether nothing was ever recorded; then the banner offers the demo.
    let isLogEmpty: @Sendable () async -> Bool
    private let apiPorts = AsyncStream.makeStream(of: Int.self)
    private let adminPorts = AsyncStream.makeStream(of: Int.self)

    /// Call these when the servers listen.
    @Sendable func apiRuns(on port: Int) { apiPorts.continuation.yield(port) }
    @Sendable func adminRuns(on port: Int) { adminPorts.continuation.yield(port) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard let port = await apiPorts.stream.first(where: { _ in true }),
                let adminPort = await adminPorts.stream.first(where: { _ in true })
            else { return }
            await untilReady()
            let isLogEmpty = await isLogEmpty()
            guard !Task.isCancelled else { return }
            say(port: port, adminPort: adminPort, isLogEmpty: isLogEmpty)
        }
        // The end of one service would end all services.
        try? await gracefulShutdown()
    }

    /// Never prints the secret itself: the printed command reads it from its place.
    private func say(port: Int, adminPort: Int, isLogEmpty: Bool) {
        let servesEvents = settings.apps.contains(.events)
        let secret =
            switch secret {
            case .file(let path): "$(cat '\(Self.absolute(path))')"
            case .environmentFile: "$(sed -n 's/^TB_APP_SECRET=\\(.\\)/\\1/p' '\(Self.absolute(Settings.environmentFile))')"
            case _: "$TB_APP_SECRET"
            }
        let client =
            servesEvents
            ? "-X POST -H \"tb-app-secret: \(secret)\"" : "-d 'user[email]=ann@example.org&user[password]=correct horse'"
        print(
            """
            humon serves on \(settings.address(port: port))
            For operators: \(settings.adminAddress(port: adminPort))/metrics
            Apps: \(ServedApp.allCases.filter(settings.apps.contains).map(\.title).joined(separator: ", "))
            Database: \(settings.databaseDescription)\(map(port: port))\(isLogEmpty && servesEvents ? Self.demo : "")
            Try it, in another terminal:

              curl \(client) \(settings.address(port: port))/v1/users

            """
        )
        fflush(nil)
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

    /// The lines about the map page; empty if no browser can open it.
    private func map(port: Int) -> String {
        guard let page = settings.mapPage else { return "" }
        let streets = page.tiles == nil ? "\nThe map shows coasts and cities. For streets set HUMON_TILES to a tile server." : ""
        return "\nMap, for a browser: \(settings.address(port: port))/\(streets)"
    }

    /// The command as this process was started.
    private static var demo: String {
        """

        There are no events yet. To fill the map with a thousand made-up ones, in another terminal:

          \(CommandLine.arguments.first ?? "humon") demo

        """
    }
}

extension ServedApp {
    fileprivate var title: String {
        switch self {
        case .events: "the map of events"
        case .tasks: "the to-do app"
        }
    }
}
