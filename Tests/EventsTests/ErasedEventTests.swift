import EventStore
import Foundation
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `An erased event` {
    /// Appends as an erasure of the owner does.
    private static func erase(_ id: EventID, after version: Int32, _ node: TestNode<EventsModule>) async throws -> Int64 {
        let result = try await node.log.append(
            AppendRequest(
                id: UUID(), streams: [StreamAppend([EventDomainEvent.erased], to: id.stream, after: version)],
                recordedAt: .startOfPicnic, metadata: Metadata(requestID: "test", actor: nil, traceID: nil)))
        let position = try #require(result.place).position
        _ = try await node.client.query("SELECT log.erase(\([id.stream.description]), 1000)")
        return position
    }

    @Test func `is gone from the index, the read model and a rebuilt one, with every word in the log`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                let id = try await node.create().id
                let other = try await node.create(.concert, by: .bob).id
                try await node.update(id, to: .concert)
                try await node.hide(id)
                let position = try await Self.erase(id, after: 3, node)
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
                let words = try await node.client.query("SELECT stream FROM log.recorded_events WHERE personal IS NOT NULL")
                #expect(try words.decode(String.self) == [other.stream.description])
            }
        }
    }
}
