import Foundation
import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import TestDatabase
import TestHTTP

/// A server that has the same image for every tile.
enum TileServer {
    /// A red pixel as PNG.
    private static let pixel = """
        iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC
        """

    /// - Parameter body: takes the address of the server
    static func with(_ body: @Sendable @escaping (String) async throws -> Void) async throws {
        let image = ByteBuffer(bytes: Data(base64Encoded: pixel) ?? Data())
        let router = Router(
            routes: [
                .immediate(.get, "/{z}/{x}/{y}") { _, _ in Response(headers: [.contentType: "image/png"], body: image) }
            ], logger: .quiet)
        try await router.withServer { _, port in try await body("http://127.0.0.1:\(port)") }
    }
}
