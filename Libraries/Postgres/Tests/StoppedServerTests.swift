import Foundation
import Synchronization
import TestDatabase
import Testing

@testable import Postgres

/// The server's process of a session is stopped, so that its socket stays open and sends no byte. A machine that hangs, or one
/// that was lost behind a proxy, looks the same.
@Suite struct `Server processes that hang` {
    @Test func `a hanging server process costs its callers the statement time-out, and its connection is replaced`() async throws
    {
        try await withOpenClient(connections: 1, configure: { $0.statementTimeoutSeconds = 1 }) { client in
            let process = try await client.firstProcess()
            try await process.stopped { () async throws in
                let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
                guard case .deadlineExceeded(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
                #expect(error?.isUnavailability == true)
                #expect(try await client.firstProcess() != process)
            }
        }
    }

    @Test func `a hanging server process does not delay statements on other connections`() async throws {
        try await withOpenClient(connections: 2, configure: { $0.statementTimeoutSeconds = 30 }) { client in
            try await eventually { client.connections[.idle] == 2 }
            let process = try await client.firstProcess()
            try await process.stopped { () async throws in
                let held = Task { try await client.query("SELECT 'held'::text") }
                try await eventually { client.connections[.busy] == 1 }
                try await Task.sleep(for: .seconds(2 * ConnectionThread.stallSeconds))
                let answers = try await withThrowingTaskGroup(of: Int32.self) { group in
                    for _ in 0..<200 { group.addTask { try await client.process().id } }
                    return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
                }
                #expect(answers.count == 1 && !answers.contains(process.id))
                // The stalled connection is not leased either.
                for _ in 0..<5 { #expect(try await client.withConnection { try await $0.process() } != process) }
                process.goOn()
                #expect(try await held.value.column(String.self) == ["held"])
            }
        }
    }

    @Test(arguments: ["FROM", "TO"]) func `a COPY ends when its server process hangs`(direction: String) async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = { $0.copyStallSeconds = 1 }
        try await withOpenClient(connections: 1, configure: configure) { client in
            try await client.query("CREATE TABLE teas (name text)")
            let process = try await client.firstProcess()
            try await process.stopped(now: false) { () async throws in
                let piece = [UInt8](String(repeating: "mate\n", count: 100_000).utf8)
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withConnection { connection in
                        if direction == "TO" {
                            let statement = "COPY (SELECT repeat('tea', 1000) FROM generate_series(1, 1000000)) TO STDOUT"
                            try await connection.copyOut(statement) { _ in process.stop() }
                        } else {
                            try await connection.copyIn("COPY teas FROM STDIN") {
                                process.stop()
                                return piece
                            }
                        }
                    }
                }
                guard case .deadlineExceeded(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
                #expect(try await client.firstProcess() != process)
                #expect(try await client.query("SELECT name FROM teas").isEmpty)
            }
        }
    }

    @Test func `an idle listener notices a hanging server process, and its notifications end`() async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            ($0.idleCheckSeconds, $0.statementTimeoutSeconds) = (0.2, 1)
        }
        try await withOpenClient(connections: 1, configure: configure) { client in
            let process = try await client.firstProcess()
            try await process.stopped(now: false) { () async throws in
                let result = await Result {
                    try await client.withConnection { connection in
                        try await connection.withNotifications(on: "teas") { notifications in
                            process.stop()
                            for await _ in notifications {}
                        }
                    }
                }
                #expect(result.failure is PostgresError)
                #expect(try await client.firstProcess() != process)
            }
        }
    }

    @Test func `a cancelled caller on a hanging connection keeps its slot for the statement time-out at most`() async throws {
        try await withOpenClient(connections: 1, configure: { $0.statementTimeoutSeconds = 1 }) { client in
            let process = try await client.firstProcess()
            try await process.stopped(now: false) { () async throws in
                let patient = Task {
                    try await client.withTransaction { connection in
                        try await connection.withoutTimeout { connection in
                            process.stop()
                            _ = try await connection.query("SELECT 1")
                        }
                    }
                }
                try await eventually { process.isStopped }
                patient.cancel()
                await #expect(throws: CancellationError.self) { try await patient.value }
                try await eventually { client.statistics.opened == 2 }
            }
        }
    }
}

@Suite struct `Idle connections` {
    @Test func `an idle connection stays open however often the server is checked`() async throws {
        try await withOpenClient(connections: 1, configure: { $0.idleCheckSeconds = 0.02 }) { client in
            let process = try await client.firstProcess()
            for _ in 0..<5 {
                // Idle for some checks outside a transaction, then as long inside one.
                try await Task.sleep(for: .milliseconds(100))
                try await client.withTransaction { connection in
                    #expect(try await connection.process() == process)
                    try await Task.sleep(for: .milliseconds(100))
                    #expect(try await connection.process() == process)
                }
            }
            #expect(client.statistics.opened == 1)
        }
    }

    @Test func `a connection has keepalives, which the URL overrides, and the server a time-out of the configuration`() throws {
        var configuration = PostgresConfiguration(url: "host=127.0.0.1 keepalives_idle=60")
        let parameters = try configuration.connectionParameters()
        for name in ["keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"] {
            let index = try #require(parameters.firstIndex { $0.keyword == name })
            let url = try #require(parameters.firstIndex { $0.keyword == "dbname" })
            // libpq uses the last value of a parameter.
            #expect(index < url && (Int(parameters[index].value) ?? 0) > 0, "\(name)")
        }
        func settings() throws -> [String] {
            let options = try configuration.connectionParameters().first { $0.keyword == "options" }?.value ?? ""
            return options.split(separator: " ").filter { $0.contains("tcp_user") || $0.contains("idle_in") }.map(String.init)
        }
        #expect(try settings() == ["idle_in_transaction_session_timeout=60000", "tcp_user_timeout=11000"])
        configuration.pauseSeconds = 3_600
        #expect(try settings() == ["idle_in_transaction_session_timeout=3600000", "tcp_user_timeout=3600000"])
    }
}

@Suite struct `Statements without time-out` {
    @Test(arguments: ["query", "script"])
    func `a statement without time-out has the maintenance time-out`(kind: String) async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            ($0.maintenanceTimeoutSeconds, $0.statementTimeoutSeconds) = (1, 30)
        }
        try await withOpenClient(connections: 1, configure: configure) { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try await connection.withoutTimeout { connection in
                        if kind == "query" {
                            try await connection.query("SELECT pg_sleep(60)")
                        } else {
                            try await connection.execute(script: "SELECT pg_sleep(60)")
                        }
                    }
                }
            }
            guard case .deadlineExceeded(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
            #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }
}

/// The server process of a session.
final class ServerProcess: Sendable, Equatable {
    let id: Int32
    private let wasStopped = Atomic(false)

    init(id: Int32) { self.id = id }

    var isStopped: Bool { wasStopped.load(ordering: .acquiring) }

    func stop() {
        guard !wasStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        kill(id, SIGSTOP)
    }

    func goOn() { kill(id, SIGCONT) }

    /// The process continues in the end, so that its database can be dropped.
    func stopped<Value>(now: Bool = true, _ body: () async throws -> Value) async throws -> Value {
        if now { stop() }
        defer { goOn() }
        return try await body()
    }

    static func == (one: ServerProcess, other: ServerProcess) -> Bool { one.id == other.id }
}

extension PostgresQuerying {
    func process() async throws -> ServerProcess {
        ServerProcess(id: try #require(try await query("SELECT pg_backend_pid()").decode(Int32.self).first))
    }
}

extension PostgresClient {
    /// The server process of the connection that takes the next statement while all connections are idle.
    func firstProcess() async throws -> ServerProcess { try await process() }
}
