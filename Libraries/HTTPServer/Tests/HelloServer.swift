import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

struct Hello {
    static func router(_ logger: Logger) -> Router {
        let routes = [
            // Responds on the event loop, because the handler neither waits nor computes for long.
            Route.immediate(.get, "/hello/{name}") { _, context in Response(text: "Hello, \(context.parameter)!") },
            // Responds in a task.
            Route(.post, "/echo") { request, _ in
                guard request.body.readableBytes > 0 else { throw HTTPError(.badRequest, "There is no body") }
                return Response(body: request.body)
            },
        ]
        return Router(routes: routes, middleware: [CORS(allowing: .all), Compression(), RequestIDs()], logger: logger)
    }

    static func main() async throws {
        let logger = Logger(label: "hello")
        let server = Server(router(logger), ServerConfiguration(host: "127.0.0.1", port: 8080), logger: logger)
        try await ServiceGroup(services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
    }
}
