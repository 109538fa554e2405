import Encoding
import EventStore
import Postgres
import SpatialIndex
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

extension `Nearby search on 100,000 events` {
    @Test func `the index and PostgreSQL find the same events with the same cursors`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await withPostgres(database.configuration(connections: 1), logger: .quiet) { client in
                let places = Self.places()
                try await Self.fill(client, places)
                let index = EventIndex()
                index.apply(try await Self.batch(client), position: 1)
                var generator = SeededGenerator(seed: 8)
                var pages = 0
                for radius in [0, 0.5, 5, 25, 100, 1_000, 10_010, 20_015.1, NearbySearch.radiusLimit] {
                    for around in Around.allCases {
                        let isAtEvent = Bool.random(using: &generator)
                        let centre = isAtEvent ? places.randomElement(using: &generator) : nil
                        var search = NearbySearch(centre: centre ?? around.place(using: &generator), radius: radius)
                        // PostgreSQL reads every event for a very large radius, so these are few.
                        for _ in 0..<(radius > 1_000 ? 1 : 3) {
                            search.limit = Int.random(in: 1...NearbySearch.maximumLimit, using: &generator)
                            let stored = try search.page(try await client.query(search.query))
                            let held = index.snapshot.search(search).result()
                            try #require((0..<held.count).map { held[$0].id } == stored.events.map(\.id.rawValue), "\(search)")
                            try #require(held.cursor == stored.next, "\(search)")
                            pages += 1
                            search.after = held.cursor
                            if held.cursor == nil { break }
                        }
                    }
                }
                #expect(pages > 70)
            }
        }
    }

    private static func batch(_ client: PostgresClient) async throws -> EventIndex.Batch {
        let rows = try await client.query(
            "SELECT id, owner_id, version, lat, lon, started_at, ended_at, x, y, z FROM \(identifier: EventsProjection.schema).events"
        )
        .decode((Int64, Int64, Int32, Double, Double, Timestamp, Timestamp?, Double, Double, Double).self)
        return rows.reduce(into: EventIndex.Batch()) { batch, row in
            let place = EventPlace(
                coordinates: Coordinates(lat: row.3, lon: row.4), startedAt: row.5, endedAt: row.6)
            let vector = UnitVector(x: row.7, y: row.8, z: row.9)
            let (id, owner) = (EventID(rawValue: row.0), UserID(rawValue: row.1))
            batch.put(id, owner: owner, version: row.2, place: place, vector: vector, json: "{}".utf8)
        }
    }
}
