import HTTPTypes
import Postgres
import TestDatabase
import Testing

@testable import HTTP

@Suite struct `Reading a faulty row of the read model` {
    private static let faults = [
        "lon = 'Infinity'", "lat = 'NaN'", "lat = 5000", "owner_id = 0", "version = 2147483647", "started_at = 'infinity'",
        "ended_at = '0044-03-15 12:00:00 BC'",
    ]

    @Test func `without an index a faulty row gets 500, and the next event is read as usual`() async throws {
        try await TestAPI.with(hasIndex: false) { api in
            let (faulty, sound) = (try await api.createEvent(), try await api.createEvent(name: "Sound"))
            for fault in Self.faults {
                _ = try await api.database.withClient { client in
                    try await client.query(SQL(unsafeText: "UPDATE events_v1.events SET \(fault) WHERE id = \(faulty)"))
                }
                #expect(try await api.send(.get, "/v1/events/\(faulty)").status == 500, "\(fault)")
                // A place that is not a number is near no other place.
                let list = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43")
                #expect([200, 500].contains(list.status), "\(fault)")
                #expect(
                    try await api.send(.patch, "/v1/events/\(faulty)", token: "owner", TestAPI.required).status
                        == 500,
                    "\(fault)")
                #expect(try await api.send(.get, "/v1/events/\(sound)").status == 200, "\(fault)")
                _ = try await api.database.withClient { client in
                    try await client.query(
                        """
                        UPDATE events_v1.events AS e SET (lat, lon, owner_id, version, started_at, ended_at)
                            = (SELECT lat, lon, owner_id, version, started_at, ended_at FROM events_v1.events WHERE id = \(sound))
                        WHERE id = \(faulty)
                        """)
                }
                #expect(try await api.send(.get, "/v1/events/\(faulty)").status == 200, "\(fault)")
            }
        }
    }
}
