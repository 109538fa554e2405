import Encoding
import HTTPTypes
import Testing

@Suite struct `Showing events on a map` {
    private static func ids(_ answer: TestAPI.Answer) -> [JSON?] {
        guard case .array(let events) = answer.json else { return [] }
        return events.map { $0["id"] }
    }

    private static let times = "from=2013-09-16T00:00:00Z&to=2013-09-16T00:00:00Z"

    @Test(arguments: [true, false]) func `a box lists its events in the order of ids, edges included`(hasIndex: Bool) async throws
    {
        try await TestAPI.with(hasIndex: hasIndex) { api in
            _ = try await api.createEvent(lat: 1, lon: 180)
            _ = try await api.createEvent(lat: 2, lon: -180)
            _ = try await api.createEvent(lat: 3, lon: 179)
            _ = try await api.createEvent(lat: 3, lon: 0)
            let answer = try await api.send(.get, "/v1/events?bbox=179,1,-179,3")
            #expect(answer.status == 200)
            #expect(Self.ids(answer) == [.number("1"), .number("2"), .number("3")])
            #expect(answer.header("link") == nil)
            #expect(Self.ids(try await api.send(.get, "/v1/events?bbox=-180,-90,180,90&limit=1000")).count == 4)
            let empty = try await api.send(.get, "/v1/events?bbox=10,10,11,11")
            #expect((empty.status, empty.body) == (200, "[]"))
        }
    }

    @Test(arguments: [true, false]) func `the pages of a box carry box, window and limit in their links`(hasIndex: Bool)
        async throws
    {
        try await TestAPI.with(hasIndex: hasIndex) { api in
            for _ in 0..<3 { _ = try await api.createEvent() }
            var path: String? = "/v1/events?bbox=-123,37,-122,38&limit=1&\(Self.times)"
            var found: [JSON?] = []
            for _ in 0..<3 {
                let answer = try await api.send(.get, try #require(path))
                found += Self.ids(answer)
                path = answer.header("link").flatMap { $0.firstMatch(of: /<(.*)>; rel="next"/).map { String($0.1) } }
            }
            #expect(found == [.number("1"), .number("2"), .number("3")])
            #expect(path == nil)
            let first = try await api.send(.get, "/v1/events?bbox=-123,37,-122,38&limit=2&from=2013-09-16T00:00:00Z")
            #expect(
                first.header("link")
                    == "</v1/events?bbox=-123.0,37.0,-122.0,38.0&limit=2&after=2&from=2013-09-16T00:00:00.000Z>; rel=\"next\"")
        }
    }

    @Test(arguments: [true, false]) func `a window keeps the events that overlap it, in every search`(hasIndex: Bool) async throws
    {
        try await TestAPI.with(hasIndex: hasIndex) { api in
            _ = try await api.createEvent()
            for (query, count) in [
                ("from=2013-09-16T00:00:00Z", 1), ("to=2013-09-16T00:00:00Z", 1), (Self.times, 1),
                ("from=2013-09-16T03:00:00Z", 1), ("from=2013-09-16T03:00:00.001Z", 0), ("to=2013-09-15T23:59:59.999Z", 0),
                ("from=&to=", 1),
                ("from=2013-09-16T02:00:00%2B02:00", 1),
            ] {
                let nearest = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43&\(query)")
                #expect(Self.ids(nearest).count == count, "\(query)")
                let box = try await api.send(.get, "/v1/events?bbox=-123,37,-122,38&\(query)")
                #expect(Self.ids(box).count == count, "\(query)")
                let clusters = try await api.send(.get, "/v1/events/clusters?bbox=-123,37,-122,38&zoom=9&\(query)")
                let cluster = #"[{"lat":37.76,"lon":-122.43,"count":1,"bbox":[-122.43,37.76,-122.43,37.76]}]"#
                #expect(clusters.body == (count == 1 ? cluster : "[]"), "\(query)")
            }
        }
    }

    @Test(arguments: [true, false]) func `an event without an end, or with one before its start, lasts three hours`(
        hasIndex: Bool
    )
        async throws
    {
        try await TestAPI.with(hasIndex: hasIndex) { api in
            try await api.signUp("owner")
            let start = #""name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z""#
            for end in ["null", #""2013-09-15T23:00:00Z""#, #""2013-09-16T00:00:00Z""#, #""2013-09-16T01:00:00Z""#] {
                let created = try await api.send(.post, "/v1/events", token: "owner", "{\(start),\"ended_at\":\(end)}")
                #expect(created.status == 200, "\(end)")
            }
            for (time, found) in [
                ("00:00:00Z", [1, 2, 3, 4]), ("00:00:00.001Z", [1, 2, 4]), ("01:00:00.001Z", [1, 2]), ("03:00:00Z", [1, 2]),
                ("03:00:00.001Z", []),
            ] as [(String, [Int])] {
                let box = try await api.send(.get, "/v1/events?bbox=1,0,3,2&from=2013-09-16T\(time)")
                #expect(Self.ids(box) == found.map { .number("\($0)") }, "\(time)")
                let near = try await api.send(.get, "/v1/events/nearests?lat=1&lon=2&from=2013-09-16T\(time)")
                #expect(Set(Self.ids(near)) == Set(found.map { JSON.number("\($0)") }), "\(time)")
                let clusters = try await api.send(.get, "/v1/events/clusters?bbox=1,0,3,2&zoom=9&from=2013-09-16T\(time)")
                let counts = clusters.body.matches(of: /"count":(\d+)/).compactMap { Int($0.1) }
                #expect(counts.reduce(0, +) == found.count, "\(time) \(clusters.body)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `an event at 180 degrees is in each box with that edge, under both names of the meridian`(hasIndex: Bool) async throws {
        try await TestAPI.with(hasIndex: hasIndex) { api in
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
    }

    @Test func `the next page of a search nearby keeps its window`() async throws {
        try await TestAPI.with { api in
            for _ in 0..<2 { _ = try await api.createEvent() }
            let answer = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43&limit=1&\(Self.times)")
            let link = try #require(answer.header("link"))
            #expect(link.hasSuffix("&from=2013-09-16T00:00:00.000Z&to=2013-09-16T00:00:00.000Z>; rel=\"next\""))
            let path = try #require(link.firstMatch(of: /<(.*)>/)).1
            #expect(Self.ids(try await api.send(.get, String(path))) == [.number("2")])
        }
    }

    @Test(arguments: [true, false]) func `clusters count each event once, from south to north and west to east`(hasIndex: Bool)
        async throws
    {
        try await TestAPI.with(hasIndex: hasIndex) { api in
            for (lat, lon) in [(0.0, 0.0), (0, 0.5), (-1, -1), (-89, 10), (90, 0), (10, 179), (10, -179)] {
                _ = try await api.createEvent(lat: lat, lon: lon)
            }
            let world = try await api.send(.get, "/v1/events/clusters?bbox=-180,-90,180,90&zoom=0")
            #expect(
                world.body == """
                    [{"lat":-89.0,"lon":10.0,"count":1,"bbox":[10.0,-89.0,10.0,-89.0]},\
                    {"lat":-1.0,"lon":-1.0,"count":1,"bbox":[-1.0,-1.0,-1.0,-1.0]},\
                    {"lat":10.0,"lon":-179.0,"count":1,"bbox":[-179.0,10.0,-179.0,10.0]},\
                    {"lat":0.0,"lon":0.25,"count":2,"bbox":[0.0,0.0,0.5,0.0]},\
                    {"lat":10.0,"lon":179.0,"count":1,"bbox":[179.0,10.0,179.0,10.0]},\
                    {"lat":90.0,"lon":0.0,"count":1,"bbox":[0.0,90.0,0.0,90.0]}]
                    """)
            let dateLine = try await api.send(.get, "/v1/events/clusters?bbox=170,0,-170,20&zoom=0")
            #expect(
                dateLine.body == """
                    [{"lat":10.0,"lon":179.0,"count":1,"bbox":[179.0,10.0,179.0,10.0]},\
                    {"lat":10.0,"lon":-179.0,"count":1,"bbox":[-179.0,10.0,-179.0,10.0]}]
                    """)
        }
    }

    /// The event loop writes 100 clusters at most; a task writes the others.
    @Test(arguments: [true, false]) func `a view with many clusters shows each of them once`(hasIndex: Bool) async throws {
        try await TestAPI.with(hasIndex: hasIndex) { api in
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

    @Test func `a map that has the list gets 304 until something changes`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent()
            for path in ["/v1/events?bbox=-123,37,-122,38", "/v1/events/clusters?bbox=-123,37,-122,38&zoom=9"] {
                let first = try await api.send(.get, path)
                let tag = try #require(first.header("etag"))
                #expect(first.header("humon-position") != nil)
                #expect(try await api.send(.get, path, headers: ["If-None-Match": tag]).status == 304)
                _ = try await api.createEvent()
                #expect(try await api.send(.get, path, headers: ["If-None-Match": tag]).status == 200)
            }
        }
    }

    @Test func `every validation error of a view is listed`() async throws {
        let cases: [(path: String, errors: [String])] = [
            ("/v1/events", ["Bbox can't be blank"]),
            ("/v1/events?bbox=1,2,3", ["Bbox is not a valid box"]), ("/v1/events?bbox=1,2,3,4,", ["Bbox is not a valid box"]),
            ("/v1/events?bbox=1,5,3,4", ["Bbox is not a valid box"]), ("/v1/events?bbox=1,2,181,4", ["Bbox is not a valid box"]),
            ("/v1/events?bbox=1,2,nan,4", ["Bbox is not a valid box"]),
            (
                "/v1/events?bbox=&from=today&to=1&limit=0&after=x",
                [
                    "Bbox can't be blank", "From is not a valid time", "To is not a valid time",
                    "Limit must be between 1 and 1000",
                    "After is not a valid cursor",
                ]
            ),
            (
                "/v1/events?bbox=1,2,3,4&from=2030-01-01T00:00:00.001Z&to=2030-01-01T00:00:00Z", ["To must not be before from"]
            ),
            (
                "/v1/events/nearests?lat=1&lon=2&from=x&to=y", ["From is not a valid time", "To is not a valid time"]
            ),
            ("/v1/events/clusters", ["Bbox can't be blank", "Zoom can't be blank"]),
            ("/v1/events/clusters?bbox=0,0,1,1&zoom=23", ["Zoom must be between 0 and 22"]),
            ("/v1/events/clusters?bbox=0,0,1,1&zoom=1.5", ["Zoom is not a whole number"]),
            (
                "/v1/events/clusters?bbox=-180,-90,180,90&zoom=5", ["Zoom is too large for this bbox (maximum is 4096 cells)"]
            ),
        ]
        try await TestAPI.with { api in
            for (path, errors) in cases {
                let answer = try await api.send(.get, path)
                #expect(answer.status == 422, "\(path)")
                #expect(answer.json?["errors"] == .array(errors.map { .string($0) }), "\(path)")
            }
        }
    }
}
