internal import App
internal import ArgumentParser
internal import CJemalloc
internal import Events
internal import HTTP
internal import Hummingbird
internal import Logging
internal import Users

/// A Hummingbird server with its default settings, for comparison with our own server.
/// It links our allocator (decision 25), so that a benchmark compares code and not allocators.
@main
struct BareServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BareServer",
        abstract:
            "Serves constant responses on 127.0.0.1 until SIGTERM or Ctrl-C: GET /bare, of the size of an event, and GET /bare/BYTES.",
        discussion: """
            With --modules it serves three requests of the v1 API instead: GET /v1/events/ID, GET /v1/events/nearests and POST /v1/events. \
            Middleware logs, counts and compresses. Database, index and writer are those of humon; the settings of humon serve name them.
            """
    )

    @Argument(help: "The port to listen on.")
    var port: Int

    @Flag(help: "Serve events with humon's modules.")
    var modules = false

    func run() async throws {
        guard modules else { return try await serve(Self.constants) }
        try await Program.withModules { [self] modules in
            try await serve(EventRoutes(events: modules[EventsModule.self], users: modules[UsersModule.self]).router)
        }
    }

    private func serve(_ router: Router<BasicRequestContext>) async throws {
        var logger = Logger(label: "bare")
        logger.logLevel = .notice
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await Application(router: router, configuration: configuration, logger: logger).runService()
    }

    /// 214 bytes: the mean length of the demo's events.
    private static let event =
        #"{"address":"117 Market Street, Springfield","ended_at":"2030-09-14T02:00:00.000Z","id":123456,"lat":37.748701,"#
        + #""lon":-122.418201,"name":"Board games evening","started_at":"2030-09-14T00:00:00.000Z","owner":{"id":12345}}"#

    private static var constants: Router<BasicRequestContext> {
        let router = Router()
        let body = ByteBuffer(string: event)
        router.get("/bare") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"], body: ResponseBody(byteBuffer: body))
        }
        let bytes = ByteBuffer(repeating: UInt8(ascii: " "), count: 1 << 20)
        router.get("/bare/{bytes}") { _, context in
            let count = min(try context.parameters.require("bytes", as: Int.self), bytes.readableBytes)
            return Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: bytes.getSlice(at: 0, length: count) ?? bytes))
        }
        return router
    }
}
