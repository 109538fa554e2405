import Encoding
import HTTPTypes
import Testing

@Suite(.api()) struct `Showing events on a map` {
    private static func ids(_ answer: TestAPI.Answer) -> [JSON?] {
        guard case .array(let events) = answer.json else { return [] }
        return events.map { $0["id"] }
    }

    @Test func `an event at 180 degrees is in each box with that edge, under both names of the meridian`() async throws {
        for lon in [-180, 180, 179.9, -179.9] { _ = try await api.createEvent(lat: 7.2, lon: lon) }
        let expected: [(box: String, found: [Int])] = [
            ("170,7.1,180,7.3", [0, 1, 2]), ("-180,7.1,-170,7.3", [0, 1, 3]), ("180,7.1,180,7.3", [0, 1]),
            ("-180,7.1,-180,7.3", [0, 1]),
            ("170,7.1,-170,7.3", [0, 1, 2, 3]), ("-180,7.1,180,7.3", [0, 1, 2, 3]), ("-170,7.1,170,7.3", []),
            ("180,7.1,-170,7.3", [0, 1, 3]),
            ("170,7.1,-180,7.3", [0, 1, 2]), ("0,7.2,180,7.2", [0, 1, 2]),
        ]
        for (box, found) in expected {
            let listed = Self.ids(try await api.send(.get, "/v1/events?bbox=\(box)"))
            #expect(listed == found.map { .number("\($0 + 1)") }, "\(box)")
            let clusters = try await api.send(.get, "/v1/events/clusters?bbox=\(box)&zoom=8")
            let counts = clusters.body.matches(of: /"count":(\d+)/).compactMap { Int($0.1) }
            #expect(counts.reduce(0, +) == found.count, "\(box): \(clusters.body)")
        }
    }

    /// The event loop writes 100 clusters at most; a task writes the others.
    @Test func `a view with many clusters shows each of them once`() async throws {
        var expected: [JSON] = []
        for row in 0..<11 {
            for column in 0..<19 {
                let (lat, lon) = (Double(row * 12 - 60), Double(column * 18 - 170))
                _ = try await api.createEvent(lat: lat, lon: lon)
                expected.append([
                    "lat": JSON(lat), "lon": JSON(lon), "count": JSON(1),
                    "bbox": .array([lon, lat, lon, lat].map { JSON($0) }),
                ])
            }
        }
        let view = try await api.send(.get, "/v1/events/clusters?bbox=-180,-90,180,90&zoom=4")
        #expect(view.status == 200)
        #expect(view.json == .array(expected))
    }
}
