import EventStore
import Notation
import Testing
import Users

@testable import Events

@Suite struct `The stored form of an event's domain events` {
    @Test(
        arguments: [
            (
                "EventCreated",
                #"{"owner":1,"name":"Picnic","address":"85 2nd Street","lat":37.76,"lon":-122.43,"#
                    + #""started_at":"2013-09-16T00:00:00.000Z","ended_at":"2013-09-16T03:30:00.000Z"}"#,
                .created(EventCreated(owner: .ann, details: .picnic))
            ),
            (
                "EventCreated",
                #"{"owner":2,"name":"Concert","address":null,"lat":-33.5,"lon":151.0,"#
                    + #""started_at":"2013-09-16T03:30:00.000Z","ended_at":null}"#,
                .created(EventCreated(owner: .bob, details: .concert))
            ),
            (
                "EventUpdated",
                #"{"name":"Picnic","address":"85 2nd Street","lat":37.76,"lon":-122.43,"#
                    + #""started_at":"2013-09-16T00:00:00.000Z","ended_at":"2013-09-16T03:30:00.000Z"}"#,
                .updated(EventUpdated(details: .picnic))
            ),
            (
                "EventUpdated",
                #"{"name":"Concert","address":null,"lat":-33.5,"lon":151.0,"#
                    + #""started_at":"2013-09-16T03:30:00.000Z","ended_at":null}"#,
                .updated(EventUpdated(details: .concert))
            ),
        ] as [(String, String, EventDomainEvent)])
    func `is these bytes, both ways`(type: String, text: String, event: EventDomainEvent) throws {
        #expect(event.stored.type == type)
        #expect(event.stored.data.text == text)
        #expect(try EventDomainEvent.decode(type: type, format: 1, data: Array(text.utf8)) == event)
    }

    @Test func `keeps a coordinate to its last digit`() throws {
        var details = EventDetails.concert
        details.coordinates = Coordinates(lat: 37.760000000000005, lon: -122.42999999999999)
        let stored = EventDomainEvent.updated(EventUpdated(details: details)).stored
        #expect(stored.data["lat"] == .number("37.760000000000005"))
        #expect(stored.data["lon"] == .number("-122.42999999999999"))
        #expect(
            try EventDomainEvent.decode(type: stored.type, format: 1, data: stored.data.utf8)
                == .updated(EventUpdated(details: details))
        )
    }

    @Test func `has these names, all of format 1`() {
        #expect(EventDomainEvent.category == "event")
        #expect(EventDomainEvent.storedTypes.map(\.name) == ["EventCreated", "EventUpdated"])
        #expect(EventDomainEvent.storedTypes.map(\.currentFormat) == [1, 1])
    }

    @Test(arguments: ["EventCreated", "EventUpdated"])
    func `is not read in a newer format`(type: String) {
        #expect(throws: FormatError("\(type) has formats 1 to 1, not 2: written by a newer humon")) {
            try EventDomainEvent.decode(type: type, format: 2, data: Array("{}".utf8))
        }
    }

    @Test func `is not read under an unknown name`() {
        #expect(throws: FormatError("no stored type EventCancelled in category event")) {
            try EventDomainEvent.decode(type: "EventCancelled", format: 1, data: Array("{}".utf8))
        }
    }

    @Test(
        arguments: [
            ("name", .null), ("name", .number("1")), ("address", .number("1")), ("lat", "37.76"), ("lat", .null),
            ("lon", .bool(true)),
            ("started_at", "soon"), ("started_at", .null), ("ended_at", "soon"), ("owner", "1"), ("owner", .number("1.5")),
        ] as [(String, JSON)])
    func `is refused with the field that is not usable, never its value`(name: String, value: JSON) {
        guard case .object(var object) = EventDomainEvent.created(EventCreated(owner: .ann, details: .picnic)).stored.data else {
            Issue.record("the stored data is no object")
            return
        }
        object[name] = value
        #expect(throws: FormatError("no usable \(name) in the stored data")) {
            try EventDomainEvent.decode(type: "EventCreated", format: 1, data: JSON.object(object).utf8)
        }
    }

    @Test(arguments: ["owner", "name", "address", "lat", "lon", "started_at", "ended_at"])
    func `is refused without one of its fields, also where null may stand`(name: String) {
        guard case .object(var object) = EventDomainEvent.created(EventCreated(owner: .ann, details: .picnic)).stored.data else {
            Issue.record("the stored data is no object")
            return
        }
        object[name] = nil
        #expect(throws: FormatError("no usable \(name) in the stored data")) {
            try EventDomainEvent.decode(type: "EventCreated", format: 1, data: JSON.object(object).utf8)
        }
    }
}

@Suite struct `The stream of an event` {
    @Test func `has the event's number`() {
        #expect(EventID(rawValue: 12).stream.description == "event-12")
        #expect(EventID(stream: StreamName("event-12")) == EventID(rawValue: 12))
    }

    @Test(arguments: ["user-12", "attendance-12-1", "event-x", "event-", "event-12-1", "event", "events-12"])
    func `is no other`(stream: String) {
        #expect(EventID(stream: StreamName(stream)) == nil)
    }
}
