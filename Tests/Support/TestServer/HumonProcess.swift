public import Foundation
internal import HTTPServer
internal import NIOCore
public import NIOHTTP1
internal import Synchronization
public import TestDatabase

/// A `humon` process in a directory of its own, started as a user starts it.
public final class HumonProcess: Sendable {
    public struct Result: Sendable {
        public var status: Int32
        public var output: String
        public var error: String

        /// - Throws: what the program said, if it failed
        @discardableResult
        public func succeeded() throws -> Result {
            guard status == 0 else { throw TimeoutError(description: "exit status \(status): \(output)\(error)") }
            return self
        }
    }

    public struct NotStarted: Error { public var output: String }

    /// The application secret of a server with a database of its own.
    public static let secret = "secret-of-the-app"

    /// The executable beside the tests' own executable.
    public static var executable: URL {
        let arguments = CommandLine.arguments.first.map { URL(fileURLWithPath: $0) }
        let folder = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
        return (folder ?? arguments?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")).appending(path: "humon")
    }

    /// A directory that is removed with the test, and that the account postgres can reach.
    public static func withDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        try await Capacity.processes.use {
            let directory = FileManager.default.temporaryDirectory.appending(path: "humon-app-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            return try await body(directory)
        }
    }

    /// An empty database, and a directory as of ``withDirectory(_:)``.
    public static func withDatabase<Value: Sendable>(
        _ body: (TestDatabase, URL) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.with(migrated: false) { database in
            try await withDirectory { directory in try await body(database, directory) }
        }
    }

    /// The same, with the settings that name the database and the secret.
    public static func withDatabase<Value: Sendable>(
        _ body: (TestDatabase, URL, _ environment: [String: String]) async throws -> Value
    ) async throws -> Value {
        try await withDatabase { database, directory in
            try await body(database, directory, ["DATABASE_URL": database.url, "TB_APP_SECRET": secret])
        }
    }

    /// Runs a command to its end.
    /// - Parameter limit: for a command that may have much to do
    /// - Throws: as ``untilExit(within:fileID:line:)``
    public static func run(
        _ arguments: [String], in directory: URL, environment: [String: String] = [:], executable: URL = executable,
        within limit: Duration = .seconds(120), fileID: String = #fileID, line: Int = #line
    ) async throws -> Result {
        let process = try HumonProcess(arguments, in: directory, environment: environment, executable: executable)
        let status = try await process.untilExit(within: limit, fileID: fileID, line: line)
        return Result(status: status, output: process.output, error: process.error)
    }

    /// Runs a command on a database.
    @discardableResult
    public static func run(_ arguments: [String], on database: TestDatabase) async throws -> Result {
        try await run(arguments, in: FileManager.default.temporaryDirectory, environment: ["DATABASE_URL": database.url])
    }

    private let name: String
    private let process: Mutex<Process>
    private let files: (output: URL, error: URL)
    public let identifier: Int32

    public init(
        _ arguments: [String], in directory: URL, environment: [String: String] = [:], executable: URL = executable
    ) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HUMON_") }
        variables["HUMON_DATA"] = directory.appending(path: "data").path
        variables["HUMON_PORT"] = "0"
        variables["HUMON_ADMIN_PORT"] = "0"
        variables.merge(environment) { $1 }
        process.environment = variables
        process.standardInput = FileHandle.nullDevice
        let (outputFile, errorFile) = (directory.appending(path: "out-\(UUID())"), directory.appending(path: "err-\(UUID())"))
        for file in [outputFile, errorFile] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        identifier = process.processIdentifier
        name = arguments.joined(separator: " ")
        self.process = Mutex(process)
        files = (outputFile, errorFile)
    }

    public var output: String { (try? String(contentsOf: files.output, encoding: .utf8)) ?? "" }
    public var error: String { (try? String(contentsOf: files.error, encoding: .utf8)) ?? "" }

    /// A process that has ended gets no signal, since its identifier may belong to another process by now.
    public func send(_ signal: Int32) { process.withLock { if $0.endStatus == nil { kill(identifier, signal) } } }

    /// Waits for the end of the process, and kills it after the limit.
    /// - Parameter limit: longer than the 20 s for which a server drains
    /// - Returns: its exit status, or the number of the signal that ended it
    /// - Throws: `TimeoutError` with the arguments and the output of a process that was killed here
    @discardableResult
    public func untilExit(
        within limit: Duration = .seconds(60), fileID: String = #fileID, line: Int = #line
    ) async throws -> Int32 {
        // A cancelled test waits as well: its directory and database must outlive the process.
        let wait = Task {
            // Asked once more, the kernel may not know the process any longer, and Foundation may not know its status yet.
            var status: Int32?
            try await eventually("the end of humon \(name)", within: limit, fileID: fileID, line: line) {
                status = process.withLock { $0.endStatus }
                return status != nil
            }
            return status ?? -1
        }
        do { return try await wait.value } catch {
            send(SIGKILL)
            throw TimeoutError(description: "\(error); it wrote \((output + self.error).suffix(2_000))")
        }
    }

    @discardableResult
    public func stop(fileID: String = #fileID, line: Int = #line) async throws -> Int32 {
        send(SIGTERM)
        return try await untilExit(fileID: fileID, line: line)
    }

    /// Time limits for a busy machine: two slow cores run all tests at the same time.
    private static let patience = ["HUMON_STATEMENT_TIMEOUT_SECONDS": "60"]

    /// Starts `humon serve`, waits for the end of its start-up, and stops it after the body. The server has long time-outs, unless the
    /// environment sets them.
    public static func withServer<Value>(
        in directory: URL, environment: [String: String] = [:], executable: URL = executable,
        _ body: (HumonProcess, Int) async throws -> Value
    ) async throws -> Value {
        let environment = patience.merging(environment) { $1 }
        let server = try HumonProcess(["serve"], in: directory, environment: environment, executable: executable)
        do {
            let value = try await body(server, try await server.port())
            try await server.stop()
            return value
        } catch {
            _ = try? await server.stop()
            throw error
        }
    }

    /// Starts `humon serve` on a database of its own, waits for the end of its start-up, and stops it after the body.
    public static func withServer<Value: Sendable>(
        migrated: Bool = false, environment: [String: String] = [:],
        _ body: (HumonProcess, Int, TestDatabase) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.with(migrated: migrated) { database in
            try await withDirectory { directory in
                let environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": secret].merging(environment) { $1 }
                return try await withServer(in: directory, environment: environment) { try await body($0, $1, database) }
            }
        }
    }

    /// The operators' port, once start-up has ended.
    public var adminPort: Int? { output.firstMatch(of: /For operators: http:\/\/[^:]+:(\d+)/).flatMap { Int($0.1) } }

    /// The port that the server logs at the end of its start-up.
    /// - Throws: `TimeoutError`; ``NotStarted`` if the process has ended
    public func port(fileID: String = #fileID, line: Int = #line) async throws -> Int {
        var port: Int?
        try await eventually(
            "the start of humon \(name)", within: .seconds(60), every: .milliseconds(50), fileID: fileID, line: line
        ) {
            port = output.firstMatch(of: /humon serves on http:\/\/[^:]+:(\d+)\n(?s:.*)curl/).flatMap { Int($0.1) }
            return port != nil || process.withLock { $0.endStatus } != nil
        }
        guard let port else { throw NotStarted(output: output + error) }
        return port
    }
}

/// One HTTP exchange with a server in another process. While the response is 503 the request is sent again, as `Retry-After` asks: on
/// a busy machine a connection to PostgreSQL can take longer than the server waits for it.
/// - Parameter attempts: the largest number of requests; 1 in a test of a server that is to answer 503
/// - Returns: the last response
public func exchange(
    _ method: String, _ url: String, headers: [(String, String)] = [], body: String = "", attempts: Int = 30
) async throws -> (status: Int, headers: HTTPHeaders, body: String) {
    for _ in 1..<attempts {
        let response = try await exchangeOnce(method, url, headers: headers, body: body)
        guard response.status == 503 else { return response }
        try await Task.sleep(for: .seconds(response.headers["retry-after"].first.flatMap { Int($0) } ?? 1))
    }
    return try await exchangeOnce(method, url, headers: headers, body: body)
}

private func exchangeOnce(
    _ method: String, _ url: String, headers: [(String, String)], body: String
) async throws -> (status: Int, headers: HTTPHeaders, body: String) {
    guard let parts = url.wholeMatch(of: /http:\/\/([^:\/]+):(\d+)(\/.*)/), let port = Int(parts.2) else {
        preconditionFailure("\(url) is not http://HOST:PORT/PATH")
    }
    let request = OutgoingRequest(
        HTTPMethod(rawValue: method), String(parts.3), host: String(parts.1), port: port, headers: HTTPHeaders(headers),
        body: ByteBuffer(string: body))
    let response = try await request.response(within: .seconds(60), bodyLimitBytes: 1 << 24)
    return (Int(response.head.status.code), response.head.headers, String(buffer: response.body))
}
