import Encoding
import Events
import HTTPTypes
import Postgres
import TestDatabase
import TestHTTP
import TestServer
import Testing

@testable import HTTP

/// The document's example with every field is the list of fields that these tests use. docs/extending.md adds one.
@Suite struct `The fields of an event` {
    private static let components = OpenAPIDocument.json["components"]
    private static let example = members(components?["examples"]?["EventDetails"]?["value"])
    private static let names = Set(example.map(\.name))
    private static let required = ["name", "lat", "lon", "started_at"]
    private static let texts = Set(EventText.allCases.map(\.rawValue))

    private static func members(_ json: JSON?) -> [JSONObject.Member] {
        if case .object(let object) = json { object.members } else { [] }
    }

    @Test func `the document shows each field of EventDetails in an event, in a patch and in the example`() {
        let details = EventDetails(
            name: "Picnic", coordinates: Coordinates(lat: 0, lon: 0), startedAt: Timestamp(milliseconds: 0))
        let labels = Mirror(reflecting: details).children.compactMap(\.label).flatMap { label -> [String] in
            switch label {
            case "coordinates": ["lat", "lon"]
            case "texts": Array(Self.texts)
            case _: [label.replacing(/[A-Z]/) { "_\($0.0.lowercased())" }]
            }
        }
        let schemas = Self.components?["schemas"]
        func properties(_ schema: String) -> Set<String> {
            Set(Self.members(schemas?[schema]?["properties"]).map(\.name))
        }
        #expect(Self.names == Set(labels))
        #expect(properties("EventPatch") == Self.names)
        #expect(properties("Event") == Self.names.union(["id", "owner"]))
    }

    @Test(.api())
    func `every field keeps its value in the log, the read model and the index, through every kind of change`() async throws {
        try await api.signUp("owner")
        let all = JSON.object(JSONObject(members: Self.example))
        let id = try #require(try await api.send(.post, "/v1/events", token: "owner", all.text).id)
        func send(_ patch: [String: JSON]) async throws {
            let body = JSON.object(JSONObject(members: patch.map { .init(name: $0.key, value: $0.value) })).text
            let answer = try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: mergePatch, body)
            #expect(answer.status == 200, "\(body)")
        }
        func expect(without missing: Set<String> = [], _ moment: String) async throws {
            let event = try await api.send(.get, "/v1/events/\(id)").json
            for (name, value) in Self.example.map({ ($0.name, $0.value) }) {
                let expected: JSON? = missing.contains(name) ? (Self.texts.contains(name) ? nil : .null) : value
                #expect(event?[name].map(Self.comparable) == expected.map(Self.comparable), "\(name) after \(moment)")
            }
            // The read model has the same.
            #expect(try await api.ask("/index/check").json?["differing"] == .number("0"), "after \(moment)")
        }
        try await expect("the creation")
        try await send([:])
        try await expect("an empty patch")
        let optional = Self.names.subtracting(Self.required)
        for name in optional { try await send([name: .null]) }
        try await expect(without: optional, "patches with null")
        for (name, value) in Self.example.map({ ($0.name, $0.value) }) { try await send([name: value]) }
        try await expect("patches with values")
        let bare = JSON.object(JSONObject(members: Self.example.filter { Self.required.contains($0.name) }))
        #expect(try await api.send(.put, "/v1/events/\(id)", token: "owner", bare.text).status == 200)
        try await expect(without: optional.subtracting(Self.texts), "a replacement with the required fields")
        #expect(try await api.send(.put, "/v1/events/\(id)", token: "owner", all.text).status == 200)
        try await expect("a replacement with every field")
    }

    /// A time as the server writes it, whatever offset the example has.
    private static func comparable(_ value: JSON) -> JSON {
        guard case .string(let text) = value, let time = Timestamp(rfc3339: text) else { return value }
        return .string(time.description)
    }
}

@Suite(.api()) struct `The texts of an event over HTTP` {
    private static let path = "/v1/events/1"
    private static let near = "/v1/events/nearests?lat=1.5&lon=2.5"
    private static let bare =
        #"{"address":null,"ended_at":null,"id":1,"lat":1.5,"lon":2.5,"name":"Later","started_at":"2014-01-01T00:00:00.000Z","owner":{"id":1}"#
    private static let short = #","category":"music","time_zone":"Europe/Berlin""#
    private static let long = #","description":"Two sets.\nBring a chair.","link":"https://example.org/""#

    /// Creates event 1 with these members behind the required ones.
    private static func create(_ texts: String) async throws {
        try await api.signUp("owner")
        #expect(try await api.send(.post, "/v1/events", token: "owner", "\(TestAPI.required.dropLast())\(texts)}").status == 200)
    }

    private static func send(_ method: HTTPRequest.Method, type: String = "application/json", _ body: String) async throws {
        #expect(try await api.send(method, path, token: "owner", type: type, body).status == 200, "\(body)")
    }

    /// Whether the event loop answers without the database.
    private static func isAnsweredFromMemory(_ path: String = Self.path, _ headers: HTTPFields = [:]) -> Bool {
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path, headerFields: headers)
        return TestAPI.Answer(immediately: request, by: api.router) != nil
    }

    @Test func `an event without texts has the bytes of before, by id and in a list, from memory`() async throws {
        try await Self.create("")
        #expect(try await api.send(.get, Self.path).body == Self.bare + "}")
        #expect(try await api.send(.get, Self.near).body == "[\(Self.bare)}]")
        #expect(Self.isAnsweredFromMemory())
    }

    @Test func `lists have the short texts behind the owner, and the event itself has all`() async throws {
        try await Self.create(Self.long + Self.short)
        #expect(try await api.send(.get, Self.path).body == Self.bare + Self.short + Self.long + "}")
        for list in [Self.near, "/v1/events?bbox=1,1,3,3", "/v1/users/me/events"] {
            let answer = try await api.send(.get, list, token: "owner")
            #expect(answer.body == "[\(Self.bare)\(Self.short)}]", "\(list)")
        }
        #expect(Self.isAnsweredFromMemory(Self.near))
    }

    @Test func `an event with short texts only is answered from memory`() async throws {
        try await Self.create(Self.short)
        #expect(Self.isAnsweredFromMemory())
        #expect(try await api.send(.get, Self.path).body == Self.bare + Self.short + "}")
    }

    @Test func `the replacement of an old client keeps the texts, as JSON and as a form, and null or a blank clears`()
        async throws
    {
        try await Self.create(Self.short + Self.long)
        let whole = Self.bare + Self.short + Self.long + "}"
        let fields = "name=Later&lat=1.5&lon=2.5&started_at=2014-01-01T00:00:00Z"
        for method: HTTPRequest.Method in [.patch, .put] {
            try await Self.send(method, TestAPI.required)
            try await Self.send(method, type: form, fields)
            #expect(try await api.send(.get, Self.path).body == whole)
        }
        try await Self.send(.put, #"\#(TestAPI.required.dropLast()),"link":null}"#)
        try await Self.send(.put, type: form, fields + "&category=&description=One+set.%0D%0AAnd+tea.")
        try await Self.send(.patch, type: mergePatch, #"{"time_zone":" "}"#)
        #expect(try await api.send(.get, Self.path).body == Self.bare + #","description":"One set.\nAnd tea."}"#)
        try await Self.send(.patch, type: mergePatch, #"{"description":null}"#)
        #expect(try await api.send(.get, Self.path).body == Self.bare + "}")
    }

    @Test func `a body with a description comes from the database, and 304 and 412 from memory`() async throws {
        try await Self.create(Self.long)
        let first = try await api.send(.get, Self.path)
        let tag = try #require(first.header("etag"))
        #expect(!Self.isAnsweredFromMemory() && !Self.isAnsweredFromMemory(Self.path, [.ifNoneMatch: "\"1.aaaaaaaa\""]))
        #expect(
            Self.isAnsweredFromMemory(Self.path, [.ifNoneMatch: tag]) && Self.isAnsweredFromMemory(Self.path, [.ifMatch: "\"1\""])
        )
        #expect(try await api.send(.get, Self.path, headers: ["if-none-match": tag]).status == 304)
        #expect(try await api.send(.get, Self.path, headers: ["if-match": tag]).body == first.body)
        #expect(try await api.send(.get, Self.path, headers: ["if-match": "\"1\""]).status == 412)
        // The tag covers the description: another row has another tag, in the response to which its bytes belong.
        try await api.database.asSuperuser("UPDATE events_v1.events SET description = 'Lie' WHERE id = 1")
        let lie = try await api.send(.get, Self.path)
        #expect(lie.body.contains("Lie") && lie.header("etag") != tag && lie.header("etag")?.unmarked == #""1""#)
        try await api.database.asSuperuser(
            #"UPDATE events_v1.events SET description = E'Two sets.\nBring a chair.' WHERE id = 1"#)
        #expect(try await api.send(.get, Self.path).header("etag") == tag)
    }

    @Test func `a change of the description alone changes the tag, and passes under the tag before`() async throws {
        try await Self.create(Self.long)
        let tag = try #require(try await api.send(.get, Self.path).header("etag"))
        let headers = ["if-match": tag]
        let answer = try await api.send(
            .patch, Self.path, token: "owner", type: mergePatch, #"{"description":"One set."}"#, headers: headers)
        #expect(answer.status == 200)
        let changed = try await api.send(.get, Self.path)
        #expect(changed.header("etag") == answer.header("etag") && changed.body.contains("One set."))
        let late = try await api.send(.patch, Self.path, token: "owner", type: mergePatch, #"{"link":null}"#, headers: headers)
        #expect(late.status == 412)
        // Many readers share a query.
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await api.send(.get, Self.path).status } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(statuses == [200])
    }
}

@Suite struct `The texts of an event in a stream of changes` {
    @Test(.api(.live)) func `a stream has the event as lists show it`() async throws {
        try await api.signUp("owner")
        let position = try #require(try await api.send(.get, "/v1/events/nearests?lat=1.5&lon=2.5").header("humon-position"))
        let body = #"\#(TestAPI.required.dropLast()),"category":"food","description":"Two sets."}"#
        #expect(try await api.send(.post, "/v1/events", token: "owner", body).status == 200)
        let stream = try `Following changes`.open(api, "lat=1.5&lon=2.5&since=\(position)")
        let text = try await stream.receive { $0.contains("event: put") && $0.hasSuffix("\n\n") }.text
        #expect(text.contains(#""owner":{"id":1},"category":"food"}"#) && !text.contains("Two sets."), "\(text)")
    }
}
