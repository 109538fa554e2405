import Foundation
import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Deadlines of callers` {
    @Test func `the deadline covers the wait behind other callers, and the connection stays open`() async throws {
        // A caller waits 0.5 + 1 + 1 s at most; all statements together take 6 s.
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            ($0.statementTimeoutSeconds, $0.acquireTimeoutSeconds) = (1, 0.5)
        }
        try await withOpenClient(connections: 1, configure: configure) { client in
            let errors = await client.errors(of: "SELECT pg_sleep(0.2)", callers: 30).compactMap { $0 as? PostgresError }
            let late = errors.filter { if case .deadlineExceeded = $0 { true } else { false } }
            #expect(!late.isEmpty)
            #expect(errors.allSatisfy { $0.isUnavailability })
            #expect(client.statistics.opened == 1)
        }
    }

    @Test(.database) func `a statement that no connection has room for ends at the deadline and was not sent`() async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            ($0.statementTimeoutSeconds, $0.acquireTimeoutSeconds) = (1, 0.1)
        }
        try await AdvisoryLock.held(in: database) { _ in
            var configuration = database.configuration(connections: 1)
            configure(&configuration)
            // The server ends none of these statements: the client gives the connection up.
            configuration.isPooled = true
            try await withPostgres(configuration, logger: .quiet) { client async throws in
                try await eventually { (try? await client.query("SELECT 1")) != nil }
                let errors = await client.errors(of: AdvisoryLock.wait, callers: 3 * ConnectionThread.depthLimit)
                #expect(errors.count == 3 * ConnectionThread.depthLimit)
                #expect(errors.allSatisfy { ($0 as? PostgresError)?.isUnavailability == true })
                #expect(errors.contains { ($0 as? PostgresError)?.mayHaveRun == false })
                #expect(errors.contains { ($0 as? PostgresError)?.mayHaveRun == true })
            }
        }
    }

    @Test func `the deadline is the sum of the acquire and the statement time-out and a second of grace`() {
        var configuration = PostgresConfiguration(url: "")
        (configuration.statementTimeoutSeconds, configuration.acquireTimeoutSeconds) = (10, 2)
        #expect(configuration.answerTimeoutSeconds == 13)
    }
}

@Suite(.database) struct `Filling the pipeline of a connection` {
    /// A statement that came before is answered, and the client is unavailable afterwards.
    @Test func `a closing client fills the pipeline beyond its limit, so that every caller is answered`() async throws {
        try await AdvisoryLock.held(in: database) { lock in
            let client = PostgresClient(database.configuration(connections: 1), logger: .quiet)
            let running = Task { await client.run() }
            try await client.query("SELECT 1")
            let callers = 3 * ConnectionThread.depthLimit
            let failed = Task { await client.errors(of: AdvisoryLock.wait, callers: callers).count }
            try await eventually { client.waitingCallers >= callers - ConnectionThread.depthLimit }
            running.cancel()
            try await eventually { client.waitingCallers == 0 && client.isClosing }
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            #expect(error?.description == "no connection to PostgreSQL: the client is closed")
            try await lock.release()
            // The callers that asked after the client had closed.
            #expect(await failed.value <= ConnectionThread.depthLimit)
            await running.value
            await #expect(throws: PostgresError.self) { try await client.withConnection { _ in } }
        }
    }
}

extension PostgresClient {
    /// The errors of callers that send a statement at the same time.
    func errors(of statement: SQL, callers: Int) async -> [any Error] {
        await withTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<callers { group.addTask { await Result { _ = try await self.query(statement) }.failure } }
            return await group.reduce(into: [any Error]()) { if let error = $1 { $0.append(error) } }
        }
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }

    var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// Runs the body with a client that has an open connection.
func withOpenClient<Value: Sendable>(
    connections: Int, configure: @escaping @Sendable (inout PostgresConfiguration) -> Void,
    _ body: @Sendable (PostgresClient) async throws -> Value
) async throws -> Value {
    try await withClient(connections: connections, configure: configure) { client async throws in
        try await eventually { (try? await client.query("SELECT 1")) != nil }
        return try await body(client)
    }
}
