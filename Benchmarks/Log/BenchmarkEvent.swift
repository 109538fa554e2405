internal import App
internal import Encoding
internal import EventStore

/// The appended domain events: all of the same size, at places in a part of the world.
enum BenchmarkEvent {
    /// The bytes of facts, personal members and metadata together.
    static let bytes = 272

    static let metadata = Metadata(requestID: "0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11", actor: 1, traceID: nil)
    static let metadataText = #"{"request_id":"0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11","actor":1,"trace_id":null}"#

    static let category = "event"

    /// The domain events of the map's events.
    static let domainEvent: any DomainEvent.Type = {
        guard let found = StoredModule.all.flatMap(\.domainEvents).first(where: { $0.category == category }) else {
            preconditionFailure("no module has the category \(category)")
        }
        return found
    }()

    /// Made before they are measured, so that the appends alone take the time.
    private static let (creations, updates) = (events("EventCreated"), events("EventUpdated"))
    private static let count = 10_000

    static func created() -> any DomainEvent { creations[Int.random(in: 0..<count)] }
    static func updated() -> any DomainEvent { updates[Int.random(in: 0..<count)] }

    /// The stored text of an event, for benchmarks that write without the log.
    static var text: String { created().stored.data.text }

    /// The stored facts of an event, and its personal members.
    static var separated: (facts: String, personal: String) {
        guard case .object(let object) = created().stored.data else { preconditionFailure("stored data is an object") }
        func text(isPersonal: Bool) -> String {
            let members = object.members.filter { domainEvent.personal.names.contains($0.name) == isPersonal }
            return JSON.object(JSONObject(members: members)).text
        }
        return (text(isPersonal: false), text(isPersonal: true))
    }

    /// The same for pgbench, which reads a colon before a letter or digit as a variable: a blank after each colon, and no times.
    static var textForPgbench: String {
        let withoutTimes = text.replacing("T00:00:00.000Z", with: "")
        return padded(withoutTimes.replacing(":", with: ": "), to: bytes - metadataForPgbench.utf8.count)
    }

    static var metadataForPgbench: String { metadataText.replacing(":", with: ": ") }

    private static func padded(_ json: String, to count: Int) -> String {
        precondition(json.utf8.count <= count, "the text for pgbench is longer than \(count) bytes")
        return json.dropLast() + String(repeating: " ", count: count - json.utf8.count) + "}"
    }

    /// Domain events of a type, with a name of the length that gives ``bytes``.
    private static func events(_ type: String) -> [any DomainEvent] {
        let missing = bytes - metadataText.utf8.count - event(type, name: "").stored.data.text.utf8.count
        let name = String(repeating: "Party at the park ", count: missing / 18 + 1).prefix(missing).description
        return (0..<count).map { _ in event(type, name: name) }
    }

    /// The coordinates have a constant number of digits. The content has format 1, so that a new field leaves the benchmark alone.
    private static func event(_ type: String, name: String) -> any DomainEvent {
        let (lat, lon) = (Int.random(in: 0...0xFFFF), Int.random(in: 0...0xFFFF))
        // The update of an event leaves the owner out.
        let facts: JSON = ["owner": .number("1"), "started_at": "2013-09-16T00:00:00.000Z", "ended_at": .null]
        let personal: JSON = [
            "name": .string(name), "address": "85 2nd Street",
            "lat": JSON(Double(100_000 + lat * 10 + lat % 9 + 1) / 10_000),
            "lon": JSON(Double(1_000_000 + lon * 10 + lon % 9 + 1) / 10_000),
        ]
        let upcasters = domainEvent.storedTypes.first { $0.name == type }?.upcasters ?? []
        do {
            let content = try upcasters.reduce(EventContent(facts, personal: .present(personal))) { try $1($0) }
            return try domainEvent.init(type: type, content: content)
        } catch {
            preconditionFailure("the benchmark's \(type) is not of the stored format: \(error)")
        }
    }
}
