import TestDatabase
import TestServer
import Testing

@Suite(.emptyDatabase, .directory) struct `Missing migrations` {
    @Test func `migrate --check lists missing migrations and exits with 2`() async throws {
        let environment = ["DATABASE_URL": database.url]
        let missing = try await HumonProcess.run(
            ["migrate", "--check", "--json"], in: directory, environment: environment)
        #expect(missing.status == 2)
        #expect(missing.output.hasPrefix(#"{"migration":"0001_log","state":"missing"}"# + "\n"))
        let applied = try await HumonProcess.run(["migrate"], in: directory, environment: environment).succeeded()
        #expect(applied.output.hasPrefix("migration"))
        let check = try await HumonProcess.run(["migrate", "--check"], in: directory, environment: environment)
        #expect((check.status, check.output) == (0, "The database has all migrations.\n"))
    }
}
