import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@testable import App

@Suite struct `Two servers on one database` {
    private struct Fleet: Sendable {
        static let secret = HumonProcess.secret
        let ports: [Int]

        func send(_ method: String, _ path: String, _ number: Int, token: String? = nil, body: String = "") async throws -> (
            status: Int, body: String
        ) {
            var headers = [("tb-app-secret", Self.secret), ("content-type", "application/json")]
            if let token { headers.append(("tb-device-token", token)) }
            let url = "http://127.0.0.1:\(ports[number % ports.count])\(path)"
            let answer = try await exchange(method, url, headers: headers, body: body)
            return (answer.status, answer.body)
        }
    }

    private static func withFleet(_ body: (Fleet, TestDatabase) async throws -> Void) async throws {
        try await HumonProcess.withDatabase { database, directory in
            let environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": Fleet.secret]
            try await HumonProcess.withServer(in: directory, environment: environment) { _, first in
                try await HumonProcess.withServer(in: directory, environment: environment) { _, second in
                    try await body(Fleet(ports: [first, second]), database)
                }
            }
        }
    }

    private static func atOnce(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> (status: Int, body: String))
        async throws -> [(status: Int, body: String)]
    {
        try await withThrowingTaskGroup(of: (status: Int, body: String).self) { group in
            for number in 0..<count { group.addTask { try await work(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `two servers keep one user per device, one attendance per user, all versions and contiguous positions`()
        async throws
    {
        try await Self.withFleet { fleet, database in
            let signUps = try await Self.atOnce(200) { try await fleet.send("POST", "/v1/users", $0, token: "one-device") }
            #expect(Set(signUps.map(\.status)) == [200])
            #expect(Set(signUps.map(\.body)).count == 1)

            let details = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            let created = try await fleet.send("POST", "/v1/events", 0, token: "one-device", body: details)
            #expect(created.body == #"{"id":1}"#)

            async let attending = Self.atOnce(200) {
                try await fleet.send("POST", "/v1/attendances", $0, token: "one-device", body: #"{"event":{"id":1}}"#)
            }
            async let updating = Self.atOnce(50) {
                try await fleet.send("PATCH", "/v1/events/1", $0, token: "one-device", body: details)
            }
            async let creating = Self.atOnce(100) {
                try await fleet.send("POST", "/v1/events", $0, token: "one-device", body: details)
            }
            #expect(try await attending.count { $0 == (200, "{}") } == 200)
            #expect(try await updating.count { $0 == (200, #"{"id":1}"#) } == 50)
            #expect(try await Set(creating.map(\.body)).count == 100)

            try await database.withClient { client in
                let reader = LogReader(client: client)
                // The reader checks that positions are contiguous.
                let recorded = try await reader.read(after: 0, limit: 1_000)
                #expect(recorded.count == 153, "\(recorded.count < 153 ? "lost" : "doubled") write")
                let versions = try await reader.read(stream: StreamName("event-1")).map(\.envelope.version)
                #expect(versions == Array(1...51))
                #expect(recorded.filter { $0.envelope.stream.category == "attendance" }.count == 1)
            }
        }
    }
}
