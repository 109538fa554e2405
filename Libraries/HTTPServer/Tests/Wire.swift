import Foundation
import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import TestHTTP
import TestServer
import Testing

/// The routes for tests of connections.
enum Wire {
    static let largeBytes = 1_000_000
    private static let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: largeBytes)

    static let routes = [
        Route.immediate(.get, "/") { _, _ in Response(text: "small") },
        Route.immediate(.get, "/large") { _, _ in Response(body: large) },
        Route(.post, "/echo") { request, _ in Response(body: request.body) },
        Route(.get, "/task") { _, _ in Response(text: "task") },
        // Has no end of its own.
        Route.immediate(.get, "/stream") { _, _ in Response(stream: ResponseStream { $0.write("tick".utf8) }) },
    ]

    static let router = Router(routes: routes, logger: .silent)

    static func configuration(_ change: (inout ServerConfiguration) -> Void = { _ in }) -> ServerConfiguration {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        change(&configuration)
        return configuration
    }

    static func get(_ path: String, _ fields: String = "", version: String = "1.1") -> String {
        "GET \(path) HTTP/\(version)\r\nHost: localhost\r\n\(fields)\r\n"
    }
}

extension Logger {
    static let silent: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()
}

/// The resident memory of this process in bytes.
func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(Int(fields[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
