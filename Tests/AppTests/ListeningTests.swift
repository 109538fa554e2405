import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `The addresses of a server` {
    private static let read = "GET /v1/events/nearests?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\nX-Request-Id: mine\r\n\r\n"

    private static func withDirectory(_ body: (URL, [String: String]) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory in
            try await body(directory, ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret])
        }
    }

    private static func untilReady(_ server: HumonProcess) async throws {
        try await eventually("the end of the start") { server.output.contains("curl") }
    }

    private static func shell(_ command: String, in directory: URL) async throws -> HumonProcess.Result {
        try await HumonProcess.run(["-c", command], in: directory, executable: URL(fileURLWithPath: "/bin/sh"))
    }

    @Test func `a server whose files are all open serves its connections, and waits before it accepts another one`() async throws
    {
        try await Self.withDirectory { directory, environment in
            let server = try HumonProcess(
                ["-c", "ulimit -n 250; exec \"$0\" serve", HumonProcess.executable.path], in: directory, environment: environment,
                executable: URL(fileURLWithPath: "/bin/sh"))
            let port = try await server.port()
            #expect(server.error.contains("raise the limit"), "\(server.error)")
            let kept = try RawConnection(port: port)
            func isServed() async throws -> Bool {
                try kept.send(Self.read)
                return try await kept.receive(until: { $0.hasSuffix("}") }).text.contains("200 OK")
            }
            #expect(try await isServed())
            let start = ContinuousClock.now
            // The kernel takes them until the server does.
            var others: [RawConnection] = []
            for _ in 0..<260 { others.append(try RawConnection(port: port)) }
            try await eventually("the line of the log") { server.error.contains("connections cannot be accepted") }
            for _ in 0..<20 { #expect(try await isServed()) }
            // Whatever was free for a moment is taken, so that the next attempts fail at once.
            for _ in 0..<20 { others.append(try RawConnection(port: port)) }
            try await Task.sleep(for: .seconds(3))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            others = []
            let address = "http://127.0.0.1:\(try #require(server.adminPort))/metrics"
            let metrics = try await exchange("GET", address).body
            let failures = try #require(metrics.firstMatch(of: /humon_http_accept_failures_total (\d+)/).flatMap { Int($0.1) })
            // One a second; without the pause they are thousands.
            #expect((1...Int(seconds) + 2).contains(failures), "\(failures) in \(seconds) s")
            #expect(try await isServed())
            #expect(try await server.stop() == 0)
        }
    }

    @Test func `TLS serves HTTP/2 and HTTP/1.1, and loads a renewed certificate`() async throws {
        try await Self.withDirectory { directory, environment in
            func makeCertificate(_ days: Int) async throws {
                let made = try await Self.shell(
                    """
                    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days \(days) -subj /CN=localhost \
                    -addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem
                    """, in: directory)
                try #require(made.status == 0, "\(made.error)")
            }
            try await makeCertificate(2)
            let tls = [
                "HUMON_TLS_CERTIFICATE": "certificate.pem", "HUMON_TLS_KEY": "key.pem", "HUMON_ARRIVAL_TIMEOUT_SECONDS": "3",
                "HUMON_IDLE_TIMEOUT_SECONDS": "2", "HUMON_ANSWER_TIMEOUT_SECONDS": "4",
            ]
            let environment = environment.merging(tls) { $1 }
            let server = try HumonProcess(["serve"], in: directory, environment: environment)
            try await Self.untilReady(server)
            let address = try #require(server.output.firstMatch(of: /serves on https:\/\/127\.0\.0\.1:(\d+)\n/)).1
            func curl(_ options: String) async throws -> String {
                let url = "https://localhost:\(address)/v1/events/nearests?lat=1&lon=2"
                return try await Self.shell("curl -s --cacert certificate.pem \(options) '\(url)'", in: directory).output
            }
            let format = "-o /dev/null -w '%{http_version} %{http_code}'"
            #expect(try await curl("--http2 \(format)") == "2 200")
            #expect(try await curl("--http1.1 --tls-max 1.2 \(format)") == "1.1 200")
            #expect(try await curl("--http1.1 --tlsv1.0 --tls-max 1.1 \(format)").hasSuffix(" 000"))
            #expect(try await curl("--http2") == #"{"message":"No Events Found"}"#)

            // A client that does not continue the handshake does not delay the shutdown.
            let silent = try RawConnection(port: try #require(Int(address)))
            #expect(try await silent.receive().isEnded)

            // Neither does a client with a window of 0 bytes that does not acknowledge GOAWAY.
            let stalled = try await Self.shell(
                #"""
                { printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
                  printf '\000\000\006\004\000\000\000\000\000\000\004\000\000\000\000'
                  printf '\000\000\016\001\005\000\000\000\001\202\207\204\101\011localhost'; } |
                { timeout 40 openssl s_client -quiet -alpn h2 -connect 127.0.0.1:\#(address); echo "ended $?" >&2; } | od -An -tx1
                """#, in: directory)
            #expect(stalled.error.contains("ended 0"), "the server has not closed it")
            // RST_STREAM of the only stream.
            #expect(stalled.output.split { $0.isWhitespace }.joined(separator: " ").contains("00 00 04 03 00 00 00 00 01"))
            #expect(try await curl("--http2 \(format)") == "2 200")

            try await makeCertificate(3)
            try await eventually("a response with the renewed certificate", every: .milliseconds(100)) {
                try await curl("--http2 \(format)") == "2 200"
            }
            #expect(try await server.stop() == 0)
        }
    }

    @Test(arguments: [
        (["HUMON_TLS_CERTIFICATE": "none.pem"], "one of them is not set"),
        (["HUMON_TLS_CERTIFICATE": "none.pem", "HUMON_TLS_KEY": "none.pem"], "the file none.pem cannot be read"),
        (["HUMON_TLS_CERTIFICATE": "notes", "HUMON_TLS_KEY": "notes"], "cannot be used"),
    ])
    func `an unusable certificate stops the start`(tls: [String: String], sentence: String) async throws {
        try await Self.withDirectory { directory, environment in
            try "notes".write(to: directory.appending(path: "notes"), atomically: true, encoding: .utf8)
            let result = try await HumonProcess.run(["serve"], in: directory, environment: environment.merging(tls) { $1 })
            #expect(result.status == 1)
            #expect(result.error.contains("HUMON_TLS_CERTIFICATE and HUMON_TLS_KEY cannot be used: "), "\(result.error)")
            #expect(result.error.contains(sentence), "\(result.error)")
        }
    }
}
