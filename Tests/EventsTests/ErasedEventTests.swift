import EventStore
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite(.node()) struct `An erased event` {
    @Test func `is gone from the index, the read model and a rebuilt one, with every word in the log`() async throws {
        let id = try await node.create().id
        let other = try await node.create(.concert, by: .bob).id
        try await node.update(id, to: .concert)
        try await node.hide(id)
        let position = try await node.append(EventDomainEvent.erased, to: id.stream, after: 3).position
        _ = try await node.client.query("SELECT log.erase(\([id.stream.description]), 1000)")
        let shown = try await node.module.view(atLeast: position).event(id)
        #expect(shown == nil)
        #expect(try await node.module.event(id) == nil)
        #expect(try await node.found(by: .everywhere, since: position).count == 1)
        #expect(try await node.module.verifyIndex().differences == [])
        let models = ReadModels(projections: [EventsProjection()], client: node.client, logger: .quiet)
        #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        _ = try await models.rebuild { _ in }
        #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        let rows = try await node.client.query("SELECT id FROM \(identifier: EventsProjection.schema).events")
        #expect(try rows.decode(Int64.self) == [other.rawValue])
        let words = try await node.client.query("SELECT stream FROM log.recorded_events WHERE personal::text <> '{}'")
        #expect(try words.decode(String.self) == [other.stream.description])
    }
}
