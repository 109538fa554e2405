import Foundation
import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import ServiceLifecycle
import TestHTTP
import Testing

@Suite struct `The README of the server` {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test func `the README begins with the program that this target compiles`() throws {
        let page = try String(
            contentsOf: Self.folder.appending(path: "../README.md").standardized, encoding: .utf8)
        let example = try String(contentsOf: Self.folder.appending(path: "HelloServer.swift"), encoding: .utf8)
        let shown = try #require(page.firstMatch(of: /(?s)```swift\n(.*?)```/)).1
        #expect(shown.replacing("@main\n", with: "") == example)
        #expect(shown.split(separator: "\n").count <= 30)
    }

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
