import Encoding
import Events
import HTTPTypes
import TestDatabase
import Testing

@testable import HTTP

/// The document's example with every field is the list of fields that these tests use. docs/extending.md adds one.
@Suite struct `The fields of an event` {
    private static let components = OpenAPIDocument.json["components"]
    private static let example = members(components?["examples"]?["EventDetails"]?["value"])
    private static let names = Set(example.map(\.name))
    private static let required = ["name", "lat", "lon", "started_at"]

    private static func members(_ json: JSON?) -> [JSONObject.Member] {
        if case .object(let object) = json { object.members } else { [] }
    }

    @Test func `the document shows each field of EventDetails in an event, in a patch and in the example`() {
        let details = EventDetails(
            name: "Picnic", coordinates: Coordinates(lat: 0, lon: 0), startedAt: Timestamp(milliseconds: 0))
        let labels = Mirror(reflecting: details).children.compactMap(\.label).flatMap { label in
            label == "coordinates" ? ["lat", "lon"] : [label.replacing(/[A-Z]/) { "_\($0.0.lowercased())" }]
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
                let (found, expected) = (event?[name], missing.contains(name) ? .null : value)
                #expect(found.map(Self.comparable) == Self.comparable(expected), "\(name) after \(moment)")
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
        try await expect(without: optional, "a replacement with the required fields")
        #expect(try await api.send(.put, "/v1/events/\(id)", token: "owner", all.text).status == 200)
        try await expect("a replacement with every field")
    }

    /// A time as the server writes it, whatever offset the example has.
    private static func comparable(_ value: JSON) -> JSON {
        guard case .string(let text) = value, let time = Timestamp(rfc3339: text) else { return value }
        return .string(time.description)
    }
}
