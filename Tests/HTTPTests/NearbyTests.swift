import Encoding
import HTTPTypes
import Testing

@Suite struct `Finding events nearby` {
    private static func ids(_ answer: TestAPI.Answer) -> [JSON?] {
        guard case .array(let events) = answer.json else { return [] }
        return events.map { $0["id"] }
    }

    @Test func `a search returns an array of events, the nearest first and ties by id`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent(lat: 37.762, name: "second")
            _ = try await api.createEvent(lat: 37.761, name: "first")
            _ = try await api.createEvent(lat: 37.762, name: "tied with second")
            _ = try await api.createEvent(lat: 38.5, name: "too far")
            for path in ["/v1/events/nearests", "/v1/events/nearest", "/v1/events/nearests.json"] {
                let answer = try await api.send(.get, "\(path)?lat=37.76&lon=-122.43&radius=2")
                #expect(answer.status == 200, "\(path)")
                #expect(Self.ids(answer) == [.number("2"), .number("1"), .number("3")], "\(path)")
                #expect(answer.header("link") == nil, "\(path)")
            }
        }
    }

    @Test func `a search without results returns an object with a message`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43&radius=2")
            #expect((answer.status, answer.body) == (200, #"{"message":"No Events Found"}"#))
        }
    }

    @Test func `the default radius is 20 km`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent(lat: 0.179, lon: 0)
            _ = try await api.createEvent(lat: 0.181, lon: 0)
            #expect(Self.ids(try await api.send(.get, "/v1/events/nearests?lat=0&lon=0")) == [.number("1")])
        }
    }

    @Test func `points 0.1 m apart at 1.2 km are told apart`() async throws {
        try await TestAPI.with { api in
            let metre = 1 / 111_195.08
            _ = try await api.createEvent(lat: 48 + 1_200.1 * metre, lon: 11)
            _ = try await api.createEvent(lat: 48 + 1_200.0 * metre, lon: 11)
            _ = try await api.createEvent(lat: 48 - 1_200.05 * metre, lon: 11)
            let answer = try await api.send(.get, "/v1/events/nearests?lat=48&lon=11&radius=1.3")
            #expect(Self.ids(answer) == [.number("2"), .number("3"), .number("1")])
        }
    }

    @Test func `the pages of a limited search are linked until the end`() async throws {
        try await TestAPI.with { api in
            for _ in 0..<7 { _ = try await api.createEvent() }
            var path: String? = "/v1/events/nearests?lat=37.76&lon=-122.43&radius=1&limit=3"
            var found: [[JSON?]] = []
            while let next = path {
                let answer = try await api.send(.get, next)
                found.append(Self.ids(answer))
                path = answer.header("link").flatMap { $0.wholeMatch(of: /<([^>]+)>; rel="next"/) }.map { String($0.1) }
            }
            #expect(found.map(\.count) == [3, 3, 1])
            #expect(found.flatMap { $0 } == (1...7).map { .number("\($0)") })
        }
    }

    @Test func `an unusable query gets 422 with all errors`() async throws {
        let cases: [(query: String, errors: String?)] = [
            ("", #"["Lat can't be blank","Lon can't be blank"]"#),
            ("lat=37", #"["Lon can't be blank"]"#),
            ("lat=91&lon=-181", #"["Lat must be between -90 and 90","Lon must be between -180 and 180"]"#),
            ("lat=x&lon=1e400", #"["Lat is not a number","Lon must be between -180 and 180"]"#),
            ("lat=nan&lon=inf", #"["Lat is not a number","Lon is not a number"]"#),
            ("lat=1&lon=1&radius=-1", #"["Radius must be between 0 and 50000"]"#),
            ("lat=1&lon=1&radius=far", #"["Radius is not a number"]"#),
            ("lat=1&lon=1&limit=0", #"["Limit must be between 1 and 1000"]"#),
            ("lat=1&lon=1&limit=1001", #"["Limit must be between 1 and 1000"]"#),
            ("lat=1&lon=1&limit=1.5", #"["Limit is not a whole number"]"#),
            ("lat=1&lon=1&after=zzz", #"["After is not a valid cursor"]"#),
            ("lat=1&lat[x]=2&=3&a[=4", #"["Lon can't be blank"]"#),
            ("lat=%FF&lon=1", nil),
        ]
        try await TestAPI.with { api in
            for (query, errors) in cases {
                let answer = try await api.send(.get, "/v1/events/nearests?\(query)")
                if let errors {
                    #expect(
                        (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":\#(errors)}"#), "\(query)"
                    )
                } else {
                    #expect(answer.status == 400, "\(query)")
                }
            }
        }
    }
}
