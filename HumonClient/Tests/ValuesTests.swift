import Foundation
import TestDatabase
import Testing

@testable import HumonClient

@Suite struct `The values of the client` {
    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try Request.encoded(value), as: UTF8.self)
    }

    private static let event =
        #"{"address":null,"ended_at":"2030-09-14T02:00:00.001Z","id":12,"lat":1e-07,"lon":-122.41820000000001,"#
        + #""name":"Tea","started_at":"2030-09-14T00:00:00.000Z","owner":{"id":1}}"#

    /// A change of every field.
    private static let patch = EventPatch(
        name: "Tea", address: .set("Park"), coordinate: Coordinate(latitude: 1, longitude: 2),
        startedAt: Date(timeIntervalSince1970: 0), endedAt: .set(Date(timeIntervalSince1970: 1)), category: .set("music"),
        timeZone: .set("UTC"), description: .set("a\nb"), link: .set("https://example.org/"))

    @Test func `an event, a draft and a patch have every field of the API's document`() throws {
        let text = try Repository.text("Sources/CDocumentation/openapi.json")
        let document = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let components = try #require(document["components"] as? [String: [String: [String: Any]]])
        let example = try JSONSerialization.data(withJSONObject: try #require(components["examples"]?["Event"]?["value"]))
        let event = try JSONDecoder().decode(Event.self, from: example)
        func keys(_ value: some Encodable) throws -> Set<String> {
            Set(try #require(JSONSerialization.jsonObject(with: Request.encoded(value)) as? [String: Any]).keys)
        }
        let properties = try #require(components["schemas"]?["EventPatch"]?["properties"] as? [String: Any])
        #expect(try keys(EventDraft(event)) == Set(properties.keys))
        #expect(try keys(Self.patch) == Set(properties.keys))
        #expect(try keys(event) == Set(properties.keys).union(["id", "owner"]))
        #expect(!Mirror(reflecting: event).children.contains { "\($0.value)" == "nil" }, "the example lacks a field")
    }

    @Test func `an event is read from the JSON of the API, and its JSON is read back`() throws {
        let event = try JSONDecoder().decode(Event.self, from: Data(Self.event.utf8))
        #expect(event.id == 12)
        #expect(event.coordinate == Coordinate(latitude: 1e-7, longitude: -122.41820000000001))
        #expect(event.startedAt == Date(timeIntervalSince1970: 1_915_574_400))
        #expect(event.endedAt == Date(timeIntervalSince1970: 1_915_581_600.001))
        #expect(event.address == nil && event.owner == User(id: 1) && event.description == nil)
        #expect(try JSONDecoder().decode(Event.self, from: Request.encoded(event)) == event)
    }

    @Test(arguments: [
        "2030-09-14T00:00:00Z", "2030-02-30T00:00:00.000Z", "2030-09-14 00:00:00.000Z", "2030-09-14T24:00:00.000Z", "",
        "2030-13-01T00:00:00.000Z", "2030-09-00T00:00:00.000Z", "２030-09-14T00:00:00.000Z",
    ])
    func `a text that is no time of the API is refused`(text: String) {
        #expect(Timestamp.date(of: text) == nil)
        let event = Self.event.replacing("2030-09-14T00:00:00.000Z", with: text)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Event.self, from: Data(event.utf8)) }
    }

    @Test(arguments: [
        "0000-03-01T00:00:00.000Z", "1600-02-29T23:59:59.999Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z",
        "2000-02-29T12:34:56.789Z", "2030-09-14T00:00:00.001Z", "2100-03-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
    ])
    func `a time keeps its text, and one of other years has none`(text: String) throws {
        #expect(Timestamp.text(of: try #require(Timestamp.date(of: text))) == text)
        for seconds in [.infinity, -.infinity, .nan, 1e300, 253_402_300_800, -62_167_219_201] {
            #expect(Timestamp.text(of: Date(timeIntervalSince1970: seconds)) == nil)
        }
    }

    @Test func `a draft leaves out what it does not have`() throws {
        var draft = EventDraft(
            name: "Tea", coordinate: Coordinate(latitude: 0.1 + 0.2, longitude: -1),
            startedAt: Date(timeIntervalSince1970: 0.0015))
        #expect(
            try Self.json(draft)
                == #"{"lat":0.30000000000000004,"lon":-1,"name":"Tea","started_at":"1970-01-01T00:00:00.002Z"}"#)
        (draft.address, draft.endedAt) = ("a/b \"c\"", Date(timeIntervalSince1970: 1))
        #expect(
            try Self.json(draft) == #"{"address":"a/b \"c\"","ended_at":"1970-01-01T00:00:01.000Z","#
                + #""lat":0.30000000000000004,"lon":-1,"name":"Tea","started_at":"1970-01-01T00:00:00.002Z"}"#)
    }

    @Test func `a patch names only what changes, and null clears`() throws {
        #expect(try Self.json(EventPatch()) == "{}")
        #expect(try Self.json(EventPatch(address: .clear, endedAt: .clear)) == #"{"address":null,"ended_at":null}"#)
        #expect(try Self.json(EventPatch(description: .clear, link: .clear)) == #"{"description":null,"link":null}"#)
        #expect(
            try Self.json(Self.patch) == #"{"address":"Park","category":"music","description":"a\nb","#
                + #""ended_at":"1970-01-01T00:00:01.000Z","lat":1,"link":"https://example.org/","lon":2,"name":"Tea","#
                + #""started_at":"1970-01-01T00:00:00.000Z","time_zone":"UTC"}"#)
    }

    @Test func `a number or a time that has no JSON cannot be sent, and the error names it`() {
        let late = Date(timeIntervalSince1970: 253_402_300_800)
        for (longitude, endedAt, name) in [(Double.nan, Date.now, "lon"), (0.0, late, "ended_at")] {
            let place = Coordinate(latitude: 0, longitude: longitude)
            let draft = EventDraft(name: "", coordinate: place, startedAt: .now, endedAt: endedAt)
            #expect(throws: HumonError.unusableValue("\(name) has no JSON")) { try Request.encoded(draft) }
        }
        #expect(throws: HumonError.unusableValue("started_at has no JSON")) { try Request.encoded(EventPatch(startedAt: late)) }
        #expect(TimeWindow(from: .distantPast, to: late).query.map(\.name) == ["from"])
    }

    @Test func `a visible region is the box of the map, also across the date line and the poles`() {
        func box(_ latitude: Double, _ longitude: Double, _ height: Double, _ width: Double) -> String {
            Box(center: Coordinate(latitude: latitude, longitude: longitude), latitudeDelta: height, longitudeDelta: width).text
        }
        #expect(box(37, -122, 2, 4) == "-124.0,36.0,-120.0,38.0")
        #expect(box(0, 179, 2, 4) == "177.0,-1.0,-179.0,1.0")
        #expect(box(0, -179, 2, 4) == "179.0,-1.0,-177.0,1.0")
        #expect(box(89, 0, 4, 360) == "-180.0,87.0,180.0,90.0")
        #expect(box(-89, 10, 4, 400) == "-180.0,-90.0,180.0,-87.0")
    }

    @Test func `the circle of a map has the radius of the book`() {
        let region = Region.visibleCircle(center: Coordinate(latitude: 37.76, longitude: -122.43), latitudeDelta: 0.5)
        #expect(region.query.map(\.name) == ["lat", "lon", "radius"])
        #expect(region.query.map(\.value) == ["37.76", "-122.43", "27.75"])
    }

    @Test func `distances are those of the server's sphere`() {
        let (origin, quarter) = (Coordinate(latitude: 0, longitude: 0), Coordinate(latitude: 0, longitude: 90))
        #expect(abs(origin.kilometers(to: quarter) - 6_371.0088 * .pi / 2) < 1e-6)
        #expect(origin.kilometers(to: origin) == 0)
        #expect(abs(origin.kilometers(to: Coordinate(latitude: 0, longitude: 180)) - 6_371.0088 * .pi) < 1e-6)
    }

    @Test func `the next page comes from the Link header`() {
        func cursor(_ link: String) -> String? { Cursor(link: link)?.rawValue }
        #expect(cursor(#"</v1/events/nearests?lat=1&limit=1&after=3eb0-12>; rel="next""#) == "3eb0-12")
        #expect(cursor(#"</v1/events?after=a%2Bb%26c&limit=1>; rel="next""#) == "a+b&c")
        #expect(cursor(#"</v1/events?after=1>; rel="prev", </v1/events?after=2>; rel="next""#) == "2")
        for link in ["", "x", "<>", #"</v1/events?after=1>; rel="prev""#, #"</v1/events>; rel="next""#] {
            #expect(cursor(link) == nil)
        }
    }

    @Test func `the version of a compressed event is the event's version`() {
        for tag in [#""5""#, #""5-gzip""#, #""5-zstd""#] { #expect(Version(rawValue: tag).rawValue == #""5""#) }
        #expect(Version(rawValue: #""5-gzip2""#).rawValue == #""5-gzip2""#)
    }

    @Test func `a query escapes every character with a meaning`() {
        let request = Request.get("/v1/events", [("bbox", "-1.5,2,3,4"), ("after", "a+b&c=d e#ü/?")])
        #expect(request.address == "/v1/events?bbox=-1.5,2,3,4&after=a%2Bb%26c%3Dd%20e%23%C3%BC%2F%3F")
    }

    @Test func `descriptions show neither tokens nor the secret of the app`() throws {
        let tokens = DeviceTokens(current: "hush", next: "hush")
        let server = try #require(URL(string: "http://127.0.0.1"))
        let configuration = HumonAPI.Configuration(server: server, appSecret: "hush", tokens: MemoryTokenStore(tokens))
        for text in ["\(tokens)", "\(configuration)", String(reflecting: tokens), String(reflecting: configuration)] {
            #expect(!text.contains("hush"))
        }
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hush"), "\(dumped)")
    }
}
