import Postgres
import Testing

@Suite struct `Running statements in a pipeline` {
    @Test(.client()) func `a pipeline of several statements commits as one transaction`() async throws {
        try await client.query("CREATE TABLE teas (name text UNIQUE)")
        let answers = try await client.run([
            "INSERT INTO teas VALUES ('mate') RETURNING pg_current_xact_id()::text",
            "INSERT INTO teas VALUES ('assam') RETURNING pg_current_xact_id()::text",
        ])
        #expect(try answers[0].column(String.self) == answers[1].decode(String.self))
        #expect(try await client.run([]).isEmpty)
        #expect(try await client.query("SELECT count(*) FROM teas").column(Int64.self) == [2])
    }

    @Test(.client()) func `a pipeline with a failing statement is rolled back as a whole`() async throws {
        try await client.query("CREATE TABLE teas (name text UNIQUE)")
        try await client.query("INSERT INTO teas VALUES ('twice')")
        for failing in 0..<3 {
            let names = (0..<3).map { $0 == failing ? "twice" : "tea \($0)" }
            let statements = names.map { "INSERT INTO teas VALUES (\($0))" as SQL }
            let error = await #expect(throws: PostgresError.self, "\(failing)") { try await client.run(statements) }
            #expect(error?.sqlState == .uniqueViolation, "\(failing)")
            #expect(try await client.query("SELECT name FROM teas").column(String.self) == ["twice"], "\(failing)")
        }
    }

    @Test(.client(connections: 2)) func `a thousand callers over two connections get their own answers`() async throws {
        let answers = try await withThrowingTaskGroup(of: (Int64, Int64?, Int32?).self) { group in
            for number in 0..<Int64(1_000) {
                group.addTask {
                    let answer = try await client.query("SELECT \(number), pg_backend_pid()").decode((Int64, Int32).self)
                    return (number, answer.first?.0, answer.first?.1)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 1_000)
        #expect(answers.allSatisfy { $0.0 == $0.1 })
        #expect(Set(answers.map(\.2)).count <= 2)
    }
}
