internal import ArgumentParser
internal import CJemalloc
internal import Hummingbird
internal import Logging

/// A Hummingbird server with its default settings and constant responses, for comparison with our own routes.
/// It links our allocator (decision 25), so that a benchmark compares code and not allocators.
@main
struct BareServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BareServer",
        abstract:
            """
            Serves GET /bare, a constant of the size of an event, GET /bare/BYTES, and GET /typical/ID, the same constant behind \
            middleware for logs, metrics and CORS, on 127.0.0.1 until SIGTERM or Ctrl-C.
            """
    )

    @Argument(help: "The port to listen on.")
    var port: Int

    /// 214 bytes: the mean length of the demo's events.
    private static let event =
        #"{"address":"117 Market Street, Springfield","ended_at":"2030-09-14T02:00:00.000Z","id":123456,"lat":37.748701,"#
        + #""lon":-122.418201,"name":"Board games evening","started_at":"2030-09-14T00:00:00.000Z","owner":{"id":12345}}"#

    func run() async throws {
        let body = ByteBuffer(string: Self.event)
        let router = Router()
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
        // A typical chain of middleware. As in the runs of humon, no metrics backend is installed, and the log level drops these records.
        router.group("typical")
            .add(middleware: LogRequestsMiddleware(.info))
            .add(middleware: MetricsMiddleware())
            .add(
                middleware: CORSMiddleware(
                    allowOrigin: .originBased, allowHeaders: [.accept, .contentType], allowMethods: [.get])
            )
            .get("{id}") { _, context in
                guard try context.parameters.require("id", as: Int.self) > 0 else { throw HTTPError(.notFound) }
                return Response(
                    status: .ok, headers: [.contentType: "application/json; charset=utf-8", .eTag: "\"1\""],
                    body: ResponseBody(byteBuffer: body))
            }
        var logger = Logger(label: "bare")
        logger.logLevel = .notice
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await Application(router: router, configuration: configuration, logger: logger).runService()
    }
}
