import Encoding
import EventStore
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Storing the domain events of events` {
    private static let picnic =
        #""name":"Picnic","address":"85 2nd Street","lat":37.76,"lon":-122.43,"#
        + #""started_at":"2013-09-16T00:00:00.000Z","ended_at":"2013-09-16T03:30:00.000Z"}"#
    private static let concert =
        #""name":"Concert","address":null,"lat":-33.5,"lon":151.0,"started_at":"2013-09-16T03:30:00.000Z","ended_at":null}"#

    @Test func `each event's domain event is stored as these bytes and read from them`() {
        #expect(
            EventDomainEvent.faults(of: [
                (.created(by: .ann, .picnic), "EventCreated", #"{"owner":1,"# + Self.picnic),
                (.created(by: .bob, .concert), "EventCreated", #"{"owner":2,"# + Self.concert),
                (.updated(.picnic), "EventUpdated", "{" + Self.picnic),
                (.updated(.concert), "EventUpdated", "{" + Self.concert),
                (.cancelled, "EventCancelled", "{}"),
                (.fraud, "EventHidden", #"{"reason":"Sells tickets that do not exist"}"#),
                (.unhidden(nil), "EventUnhidden", "{}"),
                (.unhidden(OwnedDetails(.picnic, of: .ann)), "EventUnhidden", #"{"owner":1,"# + Self.picnic),
                (.erased, "EventErased", "{}"),
            ]) == [])
        let personal: Set = ["name", "address", "lat", "lon", "category", "time_zone", "description", "link", "reason"]
        #expect(EventDomainEvent.personal.names == personal)
    }

    @Test func `a stored coordinate keeps its last digit, up to the ends of both ranges`() throws {
        for (lat, lon) in [(37.760000000000005, -122.42999999999999), (90, 180), (-90, -180), (0, 0), (-0.0, -0.0)] {
            var details = EventDetails.concert
            details.coordinates = Coordinates(lat: lat, lon: lon)
            let event = EventDomainEvent.updated(details)
            #expect(try EventDomainEvent.decode("EventUpdated", together: event.stored.data.utf8) == event)
            guard lat > 0, lat < 90 else { continue }
            #expect(event.stored.data["lat"] == .number("37.760000000000005"))
            #expect(event.stored.data["lon"] == .number("-122.42999999999999"))
        }
    }

    @Test func `the domain events of events have these stored names, all in format 1`() {
        #expect(EventDomainEvent.category == "event")
        #expect(
            EventDomainEvent.storedTypes.map(\.name) == [
                "EventCreated", "EventUpdated", "EventCancelled", "EventHidden", "EventUnhidden", "EventErased",
            ])
        #expect(EventDomainEvent.storedTypes.allSatisfy { $0.currentFormat == 1 && $0.writtenFormat == 1 })
    }

    @Test(
        arguments: [
            ("name", .null), ("name", .number("1")), ("address", .number("1")), ("lat", "37.76"), ("lat", .null),
            ("lon", .bool(true)),
            ("started_at", "soon"), ("started_at", .null), ("ended_at", "soon"), ("owner", "1"), ("owner", .number("1.5")),
            ("owner", .number("0")), ("owner", .number("-1")), ("owner", .number("9223372036854775808")),
        ] as [(String, JSON)])
    func `an unusable field is named in the error, without its value`(name: String, value: JSON) throws {
        let created = EventDomainEvent.created(by: .ann, .picnic)
        // Even a nullable field must be there.
        for unusable in [value, nil] {
            let text = try Self.text(created, name, unusable)
            let reason = EventDomainEvent.refusal(of: "EventCreated", text)
            #expect(reason == "EventCreated, format 1: no usable \(name) in the stored data")
        }
        for text in [#"{"reason":null}"#, #"{"reason":1}"#] {
            let reason = EventDomainEvent.refusal(of: "EventHidden", text)
            #expect(reason == "EventHidden, format 1: no usable reason in the stored data")
        }
    }

    /// The stored data with another value of a member.
    private static func text(_ event: EventDomainEvent, _ name: String, _ value: JSON?) throws -> String {
        guard case .object(var object) = event.stored.data else { throw FormatError("the stored data is no object") }
        object[name] = value
        return JSON.object(object).text
    }

    @Test(
        arguments: [
            ("lat", .number("1e999"), "lat is not a number from -90 to 90"),
            ("lat", .number("-1e999"), "lat is not a number from -90 to 90"),
            ("lat", .number("5000"), "lat is not a number from -90 to 90"),
            ("lat", .number("1638.5"), "lat is not a number from -90 to 90"),
            ("lat", .number("90.00000000000001"), "lat is not a number from -90 to 90"),
            ("lon", .number("1e999"), "lon is not a number from -180 to 180"),
            ("lon", .number("-180.00000000000003"), "lon is not a number from -180 to 180"),
            ("name", "a\0b", "name contains U+0000"), ("address", "\0", "address contains U+0000"),
            ("started_at", "10000-01-01T00:00:00Z", "no usable started_at in the stored data"),
            ("ended_at", "9999-12-31T23:59:60Z", "no usable ended_at in the stored data"),
        ] as [(String, JSON, String)])
    func `a value out of range is refused`(name: String, value: JSON, reason: String) throws {
        try Self.expectRefusal(of: value, as: name, because: reason)
    }

    /// Not an argument of the test before, which would print the name.
    @Test func `a name of more than a mebibyte is refused`() throws {
        let name = String(repeating: "x", count: 1_048_577)
        try Self.expectRefusal(of: .string(name), as: "name", because: "name is longer than 1048576 bytes")
    }

    private static func expectRefusal(of value: JSON, as name: String, because reason: String) throws {
        for event in [
            EventDomainEvent.created(by: .ann, .picnic), .updated(.picnic), .unhidden(OwnedDetails(.picnic, of: .ann)),
        ] {
            let type = event.stored.type
            let text = try text(event, name, value)
            #expect(EventDomainEvent.refusal(of: type, text) == "\(type), format 1: \(reason)")
        }
    }
}

@Suite struct `Erased domain events of events` {
    private static let times = #""started_at":"2013-09-16T00:00:00.000Z","ended_at":"2013-09-16T03:30:00.000Z""#

    private static func decode(_ type: String, _ facts: String) throws -> EventDomainEvent {
        try EventDomainEvent.decode(StoredEvent(type: type, format: 1, facts: Array(facts.utf8), personal: .erased))
    }

    @Test func `an erased event keeps its owner and its times, which are checked`() throws {
        let created = try Self.decode("EventCreated", #"{"owner":1,\#(Self.times)}"#)
        guard case .created(let new) = created else { throw FormatError("\(created)") }
        #expect(new.owner == .ann && new.details.details == .erased)
        let picnic = EventDetails.picnic
        #expect((new.details.startedAt, new.details.endedAt) == (picnic.startedAt, picnic.endedAt))
        #expect(try Self.decode("EventUnhidden", #"{"owner":1,\#(Self.times)}"#) == .unhidden(new))
        #expect(throws: FormatError("EventUpdated, format 1: no usable started_at in the stored data")) {
            try Self.decode("EventUpdated", #"{"started_at":"soon","ended_at":null}"#)
        }
    }

    @Test func `a rebuild that reads erased details leaves no row`() throws {
        let created = try Self.decode("EventCreated", #"{"owner":1,\#(Self.times)}"#)
        let twelve = EventID(rawValue: 12)
        for events in [
            [created], [created, .erased], [EventDomainEvent.created(by: .ann, .picnic), .erased],
        ] {
            let changes = EventsProjection().fold(events.enumerated().map { .of(12, version: Int32($0 + 1), $1) })
            #expect((changes.created.map(\.id), changes.changed.map(\.id), changes.erased) == ([], [], [twelve]))
        }
    }
}

@Suite struct `The stream of an event` {
    @Test func `operators see in the state whether an event is cancelled or hidden, and no reason`() {
        #expect(EventDomainEvent.cancelled.state == ["cancelled": .bool(true)])
        #expect(EventDomainEvent.fraud.state == ["hidden": .bool(true)])
        #expect(EventDomainEvent.unhidden(nil).state == ["hidden": .bool(false)])
        let updated = EventDomainEvent.updated(.picnic)
        #expect(updated.state == updated.stored.data)
    }

    @Test func `an event stream begins with EventCreated and goes on with other domain events`() {
        let created = EventDomainEvent.created(by: .ann, .picnic)
        let updated = EventDomainEvent.updated(.picnic)
        for (event, stream, version, reason) in [
            (created, "event-1", 2, "an event is created at version 1 only"),
            (updated, "event-1", 1, "an event is created before it is updated"),
            (.cancelled, "event-1", 1, "an event is created before it is cancelled"),
            (.fraud, "event-1", 1, "an event is created before it is hidden"),
            (.unhidden(nil), "event-1", 1, "an event is created before it is hidden"),
            (.erased, "event-1", 1, "an event is created before it is erased"),
            (updated, "event-+1", 2, "the stream is not named after an event's id"),
            (created, "user-1", 1, "the stream is not named after an event's id"),
        ] as [(EventDomainEvent, String, Int32, String)] {
            #expect(event.refusal(in: stream, version: version) == "\(event.stored.type), format 1: \(reason)")
        }
        #expect(EventID(stream: EventID(rawValue: 12).stream) == EventID(rawValue: 12))
    }
}
