import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import ServiceLifecycle
import TestHTTP
import Testing

@Suite struct `The example of the server` {
    @Test(arguments: [TestingSetup.router, .live]) func `the routes in the README respond`(setup: TestingSetup) async throws {
        try await Hello.router(Logger(label: "test")).test(setup) { client in
            let hello = try await client.send(.get, "/hello/Ann")
            #expect((hello.status, String(buffer: hello.body)) == (.ok, "Hello, Ann!"))
            let echo = try await client.send(.post, "/echo", body: ByteBuffer(string: "again"))
            #expect((echo.status, String(buffer: echo.body)) == (.ok, "again"))
            #expect(try await client.send(.post, "/echo").status == .badRequest)
            #expect(try await client.send(.get, "/nowhere").status == .notFound)
        }
    }
}
