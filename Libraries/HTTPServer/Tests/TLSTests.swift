import AsyncHTTPClient
import Foundation
import HTTPServer
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
import TestDatabase
import TestHTTP
import Testing

@testable import HTTPServer

@Suite struct `Connections with TLS` {
    /// A configuration with a fresh certificate.
    static func withCertificate(
        _ body: @Sendable (ServerConfiguration) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = (folder.appending(path: "certificate.pem").path, folder.appending(path: "key.pem").path)
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        try #require(try await openssl.untilEnd() == 0)
        let own = try ServerCertificate(path: certificate, keyPath: key, logger: .silent)
        try await body(Wire.configuration { $0.certificate = own })
    }

    @Test(arguments: [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only])
    func `a TLS connection that its client closes leaves nothing behind`(version: HTTPClient.Configuration.HTTPVersion)
        async throws
    {
        try await Self.withCertificate { configuration in
            try await Wire.router.withServer(configuration) { server, port in
                for _ in 0..<20 {
                    var tls = TLSConfiguration.makeClientConfiguration()
                    tls.certificateVerification = .none
                    var own = HTTPClient.Configuration(tlsConfiguration: tls)
                    own.httpVersion = version
                    let client = HTTPClient(configuration: own)
                    let response = try await client.execute(
                        HTTPClientRequest(url: "https://127.0.0.1:\(port)/task"), timeout: .seconds(30))
                    let body = try await response.body.collect(upTo: 1_000)
                    #expect(String(buffer: body) == "task")
                    #expect(response.version == (version == .automatic ? .http2 : .http1_1))
                    try await client.shutdown()
                }
                try await eventually("the end of all connections") { server.state.connections.isEmpty }
                #expect(server.state.handlers.load(ordering: .relaxed) == 0)
                #expect(server.state.budget.usedBytes == 0)
            }
        }
    }
}
