import Foundation
import Postgres
import TestDatabase
import Testing

@Suite struct `Settings of a session` {
    @Test func `a session has the privileges of the configured role`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient(role: "log_app") { client in
                let users = try await client.query("SELECT current_user, session_user").decode((String, String).self)
                #expect(try #require(users.first) == ("log_app", "humon"))
                let error = await #expect(throws: PostgresError.self) { try await client.query("TRUNCATE log.recorded_events") }
                #expect(error?.sqlState == .insufficientPrivilege)
            }
        }
    }

    @Test func `the options of the URL take precedence over the configured settings`() async throws {
        let path = #""a b", "c\d""#
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            $0.sessionSettings = ["enable_seqscan": "off", "work_mem": "5MB", "search_path": path]
            $0.url += " options='-c enable_seqscan=on' application_name=tea"
        }
        try await withClient(configure: configure) { client async throws in
            #expect(try await setting("enable_seqscan", client) == "on")
            #expect(try await setting("work_mem", client) == "5MB")
            // A setting may contain spaces and backslashes.
            #expect(try await setting("search_path", client) == path)
            #expect(try await setting("application_name", client) == "tea")
        }
    }

    @Test(.client(configure: { $0.statementTimeoutSeconds = 7.5 }))
    func `a session is named postgres-client, uses UTF-8 and read committed, and has a statement time-out`() async throws {
        #expect(try await setting("application_name", client) == "postgres-client")
        #expect(try await setting("client_encoding", client) == "UTF8")
        #expect(try await setting("transaction_isolation", client) == "read committed")
        #expect(try await setting("statement_timeout", client) == "7500ms")
    }

    #if os(Linux)
        @Test(.database) func `PostgreSQL's process for a session has the configured niceness`() async throws {
            var configuration = database.configuration()
            let before = try await serverNiceness(configuration)
            configuration.niceness = 19
            #expect(try await serverNiceness(configuration) == 19)
            #expect(before < 19)
        }

        private func serverNiceness(_ configuration: PostgresConfiguration) async throws -> Int32 {
            try await withPostgres(configuration, logger: .quiet) { client in
                let process = try #require(try await client.query("SELECT pg_backend_pid()").column(Int32.self).first)
                return getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process))
            }
        }
    #endif

    private func setting(_ name: String, _ client: PostgresClient) async throws -> String? {
        try await client.query("SELECT current_setting(\(name))").column(String.self).first
    }
}
