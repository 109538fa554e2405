internal import Encoding
internal import EventStore
internal import Events
internal import Foundation

/// The appended domain events: all of the same size, at places in a part of the world.
enum BenchmarkEvent {
    /// The bytes of facts, personal members and metadata together, without salt and digest.
    static let bytes = 272

    static let metadata = Metadata(requestID: "0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11", actor: 1, traceID: nil)
    static let metadataText = #"{"request_id":"0b54e7a0-5f0f-4f1c-9a51-2f5f4d6f3c11","actor":1,"trace_id":null}"#

    // Read from stored JSON, because only their module can make these values.
    private static let createdTemplate = template("EventCreated", #""owner":1,"#)
    private static let updatedTemplate = template("EventUpdated", "")
    /// A name of the length that gives ``bytes``.
    private static let createdName = name(filling: createdTemplate)
    private static let updatedName = name(filling: updatedTemplate)

    static func created() -> EventDomainEvent { createdTemplate.with(details(name: createdName)) }
    static func updated() -> EventDomainEvent { updatedTemplate.with(details(name: updatedName)) }

    /// The stored text of an event, for benchmarks that write without the log.
    static var text: String { created().stored.data.text }

    /// The stored facts of an event, and its personal members without the brace before them, where the salt stands.
    static var separated: (facts: String, personalMembers: String) {
        guard case .object(let object) = created().stored.data else { preconditionFailure("stored data is an object") }
        func text(isPersonal: Bool) -> String {
            let members = object.members.filter { EventDomainEvent.personal.names.contains($0.name) == isPersonal }
            return JSON.object(JSONObject(members: members)).text
        }
        return (text(isPersonal: false), String(text(isPersonal: true).dropFirst()))
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

    private static func template(_ type: String, _ owner: String) -> EventDomainEvent {
        let facts = #"{\#(owner)"started_at":"2013-09-16T00:00:00.000Z","ended_at":null}"#
        let personal = #"{"name":"","address":null,"lat":0,"lon":0}"#
        let stored = StoredEvent(type: type, format: 1, facts: Array(facts.utf8), personal: .present(Array(personal.utf8)))
        do { return try EventDomainEvent.decode(stored) } catch {
            preconditionFailure("the benchmark's \(type) is not of the stored format: \(error)")
        }
    }

    private static func name(filling template: EventDomainEvent) -> String {
        let missing = bytes - metadataText.utf8.count - template.with(details(name: "")).stored.data.text.utf8.count
        return String(repeating: "Party at the park ", count: missing / 18 + 1).prefix(missing).description
    }

    /// Coordinates with a constant number of digits. One random number gives both, because it is a system call.
    private static func details(name: String) -> EventDetails {
        let chance = UInt64.random(in: .min ... .max)
        let (lat, lon) = (Int(chance & 0xFFFF), Int(chance >> 16 & 0xFFFF))
        var details = EventDetails(
            name: name,
            coordinates: Coordinates(
                lat: Double(100_000 + lat * 10 + lat % 9 + 1) / 10_000,
                lon: Double(1_000_000 + lon * 10 + lon % 9 + 1) / 10_000
            ),
            startedAt: Timestamp(milliseconds: 1_379_289_600_000)
        )
        details.address = "85 2nd Street"
        return details
    }
}

extension EventDomainEvent {
    fileprivate func with(_ details: EventDetails) -> EventDomainEvent {
        switch self {
        case .created(var created):
            created.details = RecordedDetails(details)
            return .created(created)
        case .updated(var updated):
            updated.details = RecordedDetails(details)
            return .updated(updated)
        case .cancelled, .hidden, .unhidden, .erased: return self
        }
    }
}
