import Encoding
import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@testable import App

/// A log of two users, an event with an update, and an attendance; and a violation of each kind. The modules' tests have the fields.
private struct Hostile: Sendable {
    struct Line: Sendable {
        var stream: String
        var version = 1
        var type: String
        var data: String
        var actor = 1

        private var stored: StoredEvent {
            guard let domainEvent = Backend.domainEvents.first(where: { $0.category == StreamName(stream).category }) else {
                preconditionFailure("no module has \(stream)")
            }
            return StoredEvent(type: type, format: 1, together: Array(data.utf8), of: domainEvent)
        }
        var facts: String { String(decoding: stored.facts, as: UTF8.self) }
        var personal: String {
            if case .present(let utf8) = stored.personal { String(decoding: utf8, as: UTF8.self) } else { "{}" }
        }
    }

    static let device = "03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"
    static let other = device.replacing("03204", with: "04204")
    static let details =
        #""name":"Picnic","address":null,"lat":37.76,"lon":-122.43,"started_at":"2013-09-16T00:00:00.000Z","ended_at":null"#

    static let lines = [
        Line(stream: "user-1", type: "UserCreated", data: #"{"device":"\#(device)"}"#),
        Line(stream: "user-2", type: "UserCreated", data: #"{"device":"\#(other)"}"#),
        Line(stream: "event-1", type: "EventCreated", data: #"{"owner":1,\#(details)}"#),
        Line(stream: "event-1", version: 2, type: "EventUpdated", data: "{\(details)}"),
        Line(stream: "attendance-1-2", type: "AttendanceAdded", data: #"{"event":1,"user":2}"#),
    ]

    /// The position of the violation, from 1, the reason that an error must contain, and the change that causes the violation.
    var position: Int
    var reason: String
    var change: @Sendable (inout Line) -> Void

    static func data(_ position: Int, _ old: String, _ new: String, _ reason: String) -> Hostile {
        Hostile(position: position, reason: reason) { $0.data.replace(old, with: new) }
    }

    static let all =
        [
            data(3, "37.76", "1e999", "EventCreated, format 1: lat is not a number from -90 to 90"),
            data(4, #""address":null"#, #""address":"\u0000""#, "address contains U+0000"),
            data(2, "04204de92e", "03204de92e", "the device of user-2 stands in a recorded event before"),
            data(5, #""user":2"#, #""user":1"#, "the stream is not named after event and user"),
            Hostile(position: 3, reason: "an event is created before it is updated") { $0.type = "EventUpdated" },
            Hostile(position: 1, reason: "no usable actor") { $0.actor = 0 },
        ]

    var lines: [Line] {
        var lines = Self.lines
        change(&lines[position - 1])
        return lines
    }
}

@Suite struct `A log with invalid data` {
    /// Writes the data as a person with rights may have recorded it.
    private static func insert(_ lines: [Hostile.Line], _ client: PostgresClient) async throws {
        for (index, line) in lines.enumerated() {
            try await client.query(
                """
                INSERT INTO log.recorded_events
                SELECT \(Int64(index + 1)), gen_random_uuid(), \(line.stream), \(Int64(line.version))::integer, \(line.type), 1, now(),
                    \(line.facts)::text::json, \(#"{"request_id":"r","actor":\#(line.actor),"trace_id":null}"#)::text::json,
                    \(line.personal)::text::json
                """)
        }
    }

    @Test func `a verification reports invalid data and a rebuild refuses it, both with the position`() async throws {
        for hostile in Hostile.all {
            try await TestDatabase.with { database in
                try await database.withClient { client in
                    try await Self.insert(hostile.lines, client)
                    var verification = try await LogVerification(of: LogReader(client: client), decodedBy: Backend.domainEvents)
                    try await verification.examineTables(client, sequences: Backend.sequences)
                    let fault = verification.violations.first { $0.reason.contains(hostile.reason) }
                    #expect(fault?.firstPosition == Int64(hostile.position), "\(hostile.reason): \(verification.violations)")
                }
                try await database.declare(Backend.projections)
                try await database.withClient(role: "log_app", connections: 4) { client in
                    do {
                        try await Backend.readModels(client).prepare()
                        // No read model contains metadata.
                        #expect(hostile.reason.contains("actor"), "\(hostile.reason)")
                    } catch let error as FormatError {
                        #expect(error.description.hasPrefix("position \(hostile.position): "), "\(error)")
                    } catch PostgresError.refused(let refusal) {
                        #expect(refusal.constraint == "users_device", "\(hostile.reason): \(refusal)")
                    }
                }
            }
        }
    }

    @Test(.database, .directory) func `a server does not start, and names the position and gives a hint`() async throws {
        let hostile = Hostile.all[0]
        try await database.withClient { client in try await Self.insert(hostile.lines, client) }
        let environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret]
        let result = try await HumonProcess.run(["serve"], in: directory, environment: environment)
        #expect(result.status == 1, "\(result.error)")
        #expect(result.error.contains("position 3: EventCreated, format 1: lat is not a number from -90 to 90"))
        #expect(!result.error.contains("1e999"))
        for advice in ["humon log verify", "humon log show", "start that version", "restore a backup"] {
            #expect(result.error.contains(advice), "\(result.error)")
        }
    }

    @Test func `positions near the largest number are refused with a message`() async throws {
        for position in [.max, .max - 1, (1 << 53) + 1] as [Int64] {
            try await TestDatabase.with { database in
                try await database.withClient { client in
                    try await client.query(
                        """
                        INSERT INTO log.recorded_events VALUES (\(position), gen_random_uuid(), 'event-1', 1, 'EventCreated', 1, now(),
                            '{}', '{}')
                        """)
                    let reader = LogReader(client: client)
                    let sentence = FormatError("position \(position): no log reaches it without a hole")
                    await #expect(throws: sentence) { try await LogVerification(of: reader, decodedBy: Backend.domainEvents) }
                    let search = LogSearch(client: client, criteria: LogCriteria())
                    await #expect(throws: sentence) { try await search.find(limit: 20) }
                    await #expect(throws: LogGapError.self) { try await reader.replay { _ in } }
                }
            }
        }
    }

    @Test(.database) func `times outside of the calendar are reported with their positions`() async throws {
        try await database.withClient { client in
            try await Self.insert(Hostile.lines, client)
            try await client.run([
                "ALTER TABLE log.recorded_events DISABLE TRIGGER guard_personal",
                "UPDATE log.recorded_events SET recorded_at = 'infinity' WHERE position = 2",
                "UPDATE log.recorded_events SET recorded_at = '0044-03-15 12:00:00 BC' WHERE position = 4",
            ])
            let reader = LogReader(client: client)
            let verification = try await LogVerification(of: reader, decodedBy: Backend.domainEvents)
            #expect(
                verification.violations.filter { $0.check == .events }.map(\.reason) == [
                    "position 2: recorded_at is a time outside the years 0000 to 9999",
                    "position 4: recorded_at is a time outside the years 0000 to 9999",
                ])
            await #expect(throws: FormatError("position 2: recorded_at is a time outside the years 0000 to 9999")) {
                try await reader.read(after: 0, limit: 10)
            }
        }
    }
}
