import Encoding
import EventStore
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing
import Users

@testable import Events

/// No `ProjectionRunner` runs here: the read model lacks the other program's events until the module's catch-up.
@Suite struct `Updating an event that another version of the program has changed` {
    fileprivate final class Waits: Sendable { let count = Mutex(0) }

    private static func with(
        _ body: @escaping @Sendable (EventsModule, EventID, PostgresClient, EventLog, Waits) async throws -> Void
    ) async throws {
        try await TestNode.withDatabase { database in
            try await database.withClient(role: "log_app", connections: 3) { client in
                let log = EventLog(client: client, projections: [EventsProjection()], logger: .quiet)
                let waits = Waits()
                var dependencies = Dependencies.system
                dependencies.sleep = { _ in waits.count.withLock { $0 += 1 } }
                let module = EventsModule(log: log, database: client, render: TestNode.render, dependencies: dependencies)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await log.run() }
                    defer { group.cancelAll() }
                    let created = CreateEvent(details: .picnic, owner: .ann)
                    let id = try await module.create(created, context: CommandContext(requestID: "test")).id
                    try await body(module, id, client, log, waits)
                }
            }
        }
    }

    /// Appends as a program without this program's read model does.
    private static func update(_ id: EventID, data: String, _ client: PostgresClient) async throws {
        let stored = StoredEvent(type: "EventUpdated", format: 1, together: Array(data.utf8), of: EventDomainEvent.self)
        try await client.append(elsewhere: stored, to: id.stream, version: 2)
    }

    private static func command(_ id: EventID) -> UpdateEvent {
        UpdateEvent(id: id, change: .replace(.concert), by: .ann, condition: VersionCondition())
    }

    @Test func `an update catches the read model up and succeeds at the second attempt`() async throws {
        try await Self.with { module, id, client, _, waits in
            let data =
                #"{"name":"Theirs","address":null,"lat":1,"lon":2,"started_at":"2013-09-16T00:00:00.000Z","ended_at":null}"#
            try await Self.update(id, data: data, client)
            let position = try await module.update(Self.command(id), context: CommandContext(requestID: "test")).position
            #expect(position == 3)
            #expect(try await module.event(id)?.version == 3)
            let count = waits.count.withLock(\.self)
            #expect(count == 1)
        }
    }

    @Test func `an update is unavailable if the read model cannot catch up, and conflicts once only`() async throws {
        try await Self.with { module, id, client, log, waits in
            try await Self.update(id, data: #"{"unreadable":true}"#, client)
            await #expect(throws: ReadModelError.behind("events_v1")) {
                _ = try await module.update(Self.command(id), context: CommandContext(requestID: "test"))
            }
            let count = waits.count.withLock(\.self)
            // The 30th attempt is the last.
            #expect(count == 29)
            #expect(log.statistics.outcomes[.conflict] == 1)
            #expect(try await LogReader(client: client).tail() == 2)
            #expect(try await module.event(id)?.version == 1)
            // Any other append finds the read model behind and throws the same error.
            await #expect {
                _ = try await module.create(
                    CreateEvent(details: .picnic, owner: .ann), context: CommandContext(requestID: "test"))
            } throws: { error in
                if case ReadModelError.unreadable = error { true } else { false }
            }
        }
    }
}
