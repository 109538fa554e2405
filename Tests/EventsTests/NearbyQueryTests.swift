import Encoding
import EventStore
import Foundation
import Postgres
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Nearby search on 100,000 events` {
    /// Half of the places are around 200 cities and half anywhere, with poles and date line.
    static func places() -> [Coordinates] {
        var generator = SeededGenerator(seed: 42)
        let cities = (0..<200).map { _ in Places.anywhere(using: &generator) }
        return (0..<100_000).map { index in
            guard index % 2 == 0 else { return Places.anywhere(using: &generator) }
            let city = cities[index / 2 % cities.count]
            let lat = min(max(city.lat + Double.random(in: -0.2...0.2, using: &generator), -90), 90)
            let lon = city.lon + Double.random(in: -0.2...0.2, using: &generator)
            return Coordinates(lat: lat, lon: lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon)
        }
    }

    /// Gives the place at index 0 to event 1, and so on: ids begin with 1.
    static func fill(_ client: PostgresClient, _ places: [Coordinates]) async throws {
        try await client.withConnection { connection in
            try await connection.query("CREATE SCHEMA \(identifier: EventsProjection.schema)")
            try await connection.execute(
                script: EventsProjection.tables(in: EventsProjection.schema)
                    + EventsProjection.indexes(in: EventsProjection.schema))
            let projection = EventsProjection()
            for start in stride(from: 0, to: places.count, by: 10_000) {
                let rows = (start..<start + 10_000).map { index in
                    let details = EventDetails(
                        name: "Event", coordinates: places[index], startedAt: Timestamp(milliseconds: 0))
                    return EventRow(
                        id: EventID(rawValue: Int64(index + 1)), version: 1, owner: UserID(rawValue: 1), details: details)
                }
                try await connection.run(
                    projection.writes(for: .init(created: rows), in: EventsProjection.schema).map(\.statement))
            }
        }
    }

    @Test func `a search with the database's index finds the same events as a full scan, in the same order`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            var configuration = database.configuration(connections: 1)
            configuration.sessionSettings = ["enable_seqscan": "off"]
            try await withPostgres(configuration, logger: .quiet) { client in
                let places = Self.places()
                try await Self.fill(client, places)
                var generator = SeededGenerator(seed: 7)
                for radius in [0.5, 5, 25, 100, 1_000] {
                    for _ in 0..<4 {
                        let centre = places[Int.random(in: 0..<places.count, using: &generator)]
                        let search = NearbySearch(centre: centre, radius: radius)
                        let found = try search.page(try await client.query(search.query)).events.map(\.id.rawValue)
                        let expected = places.indices.map { (distance: Places.haversine(centre, places[$0]), id: $0) }
                            .filter { $0.distance <= radius }.sorted { ($0.distance, $0.id) < ($1.distance, $1.id) }
                        try #require(found == expected.prefix(1_000).map { Int64($0.id + 1) }, "\(centre) \(radius) km")
                    }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `a search scans the database's index once for each band, with or without statistics`(isAnalysed: Bool) async throws {
        try await TestDatabase.with(migrated: false) { database in
            var configuration = database.configuration(connections: 1)
            configuration.sessionSettings = ["enable_seqscan": "off"]
            try await withPostgres(configuration, logger: .quiet) { client in
                try await Self.fill(client, Self.places())
                if isAnalysed { try await client.query("ANALYZE events_v1.events") }
                let search = NearbySearch(centre: Coordinates(lat: 48.1, lon: 11.6), radius: 5)
                // The generic plan of a prepared statement, which does not depend on the values.
                try await client.query("SET plan_cache_mode = force_generic_plan")
                for _ in 0..<10 { _ = try await client.query(search.query) }
                let plan = try await client.query("EXPLAIN \(search.query)").decode(String.self).joined(separator: "\n")
                #expect(plan.contains(/Index Scan (on|using) events_near/), "\(plan)")
                #expect(!plan.contains("Seq Scan"), "\(plan)")
            }
        }
    }
}
