import Testing

@testable import Postgres

@Suite struct `Receiving notifications` {
    @Test(.client()) func `notifications of other sessions arrive in order, on a channel of any name`() async throws {
        let channel = "Odd \"channel\"; --"
        try await client.withConnection { connection in
            try await connection.withNotifications(on: channel) { notifications in
                for number in 0..<3 { try await client.query("SELECT pg_notify(\(channel), \("tea \(number)"))") }
                var received: [Notification] = []
                for await notification in notifications.prefix(3) { received.append(notification) }
                #expect(received == (0..<3).map { Notification(channel: channel, payload: "tea \($0)") })
            }
        }
    }

    @Test func `notifications beyond the limit replace the oldest`() async throws {
        try await withConnection { connection in
            try await connection.withNotifications(on: "teas", limit: 2) { notifications in
                for number in 0..<5 { try await connection.query("SELECT pg_notify('teas', \("\(number)"))") }
                // The last notification may arrive after the answer to its statement, but not after the next answer.
                try await connection.query("SELECT 1")
                var iterator = notifications.makeAsyncIterator()
                #expect(await iterator.next()?.payload == "3")
                #expect(await iterator.next()?.payload == "4")
            }
        }
    }

    /// A node listens on one connection for weeks.
    @Test(.client(), .timeLimit(.minutes(15)))
    func `a connection still delivers notifications after sixty thousand`() async throws {
        try await client.withConnection { connection in
            try await connection.withNotifications(on: "teas") { notifications in
                try await client.query("SELECT pg_notify('teas', number::text) FROM generate_series(1, 60000) number")
                for await notification in notifications where notification.payload == "60000" { return }
                Issue.record("the last never came")
            }
        }
    }

    @Test(.client()) func `the sequence of notifications ends with the connection`() async throws {
        try await client.withConnection { connection in
            let pid = try #require(try await connection.query("SELECT pg_backend_pid()").column(Int32.self).first)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.withNotifications(on: "teas") { notifications in
                    try await client.query("SELECT pg_terminate_backend(\(pid))")
                    for await _ in notifications {}
                }
            }
            #expect(error?.isUnavailability == true)
        }
    }

    @Test(.client(connections: 1)) func `listening ends with the body, even when it throws`() async throws {
        await #expect(throws: NoTea.self) {
            try await client.withConnection { connection in
                try await connection.withNotifications(on: "teas") { _ in throw NoTea() }
            }
        }
        #expect(try await client.query("SELECT pg_listening_channels()").isEmpty)
    }
}
