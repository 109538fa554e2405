import NIOCore
import NIOHTTP1
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Sending a request` {
    @Test func `the server gets the body, and the client the whole response`() async throws {
        try await Wire.router.withServer { _, port in
            let request = OutgoingRequest(.POST, "/echo", port: port, body: ByteBuffer(string: "tea"))
            let response = try await request.response(within: .seconds(60), bodyLimitBytes: 3)
            #expect((response.head.status, String(buffer: response.body)) == (.ok, "tea"))
        }
    }

    @Test func `a body beyond the limit is refused`() async throws {
        _ = try await Wire.router.withServer { _, port in
            await #expect(throws: OutgoingRequest.BodyTooLarge.self) {
                try await OutgoingRequest(.GET, "/large", port: port).response(bodyLimitBytes: Wire.largeBytes - 1)
            }
        }
    }

    @Test func `a response that does not end is given up after the time limit`() async throws {
        _ = try await Wire.router.withServer { _, port in
            await #expect(throws: (any Error).self) {
                try await OutgoingRequest(.GET, "/stream", port: port).response(within: .milliseconds(200), bodyLimitBytes: 100)
            }
        }
    }

    @Test func `a port without a server is an error`() async throws {
        let port = try RawConnection.freePorts(1)[0]
        await #expect(throws: (any Error).self) { try await OutgoingRequest(.GET, "/", port: port).response(bodyLimitBytes: 1) }
    }
}
