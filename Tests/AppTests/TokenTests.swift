import Foundation
import TestServer
import Testing

@Suite struct `A device token that is not UTF-8` {
    private static func status(_ method: String, _ path: String, token: [UInt8], body: String, port: Int) async throws -> String {
        let connection = try RawConnection(port: port)
        let head = """
            \(method) \(path) HTTP/1.1\r
            host: humon\r
            tb-app-secret: s3cret-of-the-app\r
            content-type: application/json\r
            content-length: \(body.utf8.count)\r
            connection: close\r
            tb-device-token:
            """
        try connection.send(Array(head.utf8) + token + Array("\r\n\r\n\(body)".utf8))
        let received = try await connection.receive()
        // The text after the number comes from the library.
        return String(received.text.prefix(12))
    }

    /// The libraries of the server replace each invalid byte by U+FFFD, so different tokens would become equal.
    @Test func `such a token neither signs up nor writes`() async throws {
        try await HumonProcess.withDirectory { directory in
            try await HumonProcess.withServer(in: directory, environment: ["TB_APP_SECRET": "s3cret-of-the-app"]) { _, port in
                for byte in [0xFE, 0xFF, 0x80] as [UInt8] {
                    let token = Array("phone-".utf8) + [byte]
                    let signUp = try await Self.status("POST", "/v1/users", token: token, body: "", port: port)
                    #expect(signUp == "HTTP/1.1 422", "\(signUp)")
                    let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
                    let write = try await Self.status("POST", "/v1/events", token: token, body: party, port: port)
                    #expect(write == "HTTP/1.1 401", "\(write)")
                    let faulty = try await Self.status("POST", "/v1/events", token: token, body: "{}", port: port)
                    #expect(faulty == "HTTP/1.1 422", "\(faulty)")
                }
                let signUp = try await Self.status("POST", "/v1/users", token: Array("phone".utf8), body: "", port: port)
                #expect(signUp == "HTTP/1.1 200")
            }
        }
    }
}
