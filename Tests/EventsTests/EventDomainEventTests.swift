import Encoding
import EventStore
import Foundation
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Storing the domain events of events` {
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
            ("EventCancelled", "{}", .cancelled),
            ("EventHidden", #"{"reason":"Sells tickets that do not exist"}"#, .hidden(.fraud)),
            ("EventUnhidden", "{}", .unhidden), ("EventErased", "{}", .erased),
        ] as [(String, String, EventDomainEvent)])
    func `each event's domain event is stored as these bytes and read from them`(
        type: String, text: String, event: EventDomainEvent
    ) throws {
        #expect(event.stored.type == type)
        #expect(event.stored.data.text == text)
        #expect(try EventDomainEvent.decode(type, together: Array(text.utf8)) == event)
    }

    @Test func `a stored coordinate keeps its last digit`() throws {
        var details = EventDetails.concert
        details.coordinates = Coordinates(lat: 37.760000000000005, lon: -122.42999999999999)
        let stored = EventDomainEvent.updated(EventUpdated(details: details)).stored
        #expect(stored.data["lat"] == .number("37.760000000000005"))
        #expect(stored.data["lon"] == .number("-122.42999999999999"))
        #expect(
            try EventDomainEvent.decode(stored.type, together: stored.data.utf8)
                == .updated(EventUpdated(details: details))
        )
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
    func `an unusable field is named in the error, without its value`(name: String, value: JSON) {
        guard case .object(var object) = EventDomainEvent.created(EventCreated(owner: .ann, details: .picnic)).stored.data else {
            Issue.record("the stored data is no object")
            return
        }
        // Even a nullable field must be there.
        for unusable in [value, nil] {
            object[name] = unusable
            #expect(throws: FormatError("EventCreated, format 1: no usable \(name) in the stored data")) {
                try EventDomainEvent.decode("EventCreated", together: JSON.object(object).utf8)
            }
        }
    }

    @Test(arguments: [#"{"reason":null}"#, #"{"reason":1}"#])
    func `a stored EventHidden without a text as its reason is refused`(data: String) {
        #expect(throws: FormatError("EventHidden, format 1: no usable reason in the stored data")) {
            try EventDomainEvent.decode("EventHidden", together: Array(data.utf8))
        }
    }

    @Test func `the name and the place of an event and the reason of its hiding are personal`() {
        #expect(EventDomainEvent.personal.names == ["name", "address", "lat", "lon", "reason"])
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
            ("name", .string(String(repeating: "x", count: 1_048_577)), "name is longer than 1048576 bytes"),
            ("started_at", "10000-01-01T00:00:00Z", "no usable started_at in the stored data"),
            ("ended_at", "9999-12-31T23:59:60Z", "no usable ended_at in the stored data"),
        ] as [(String, JSON, String)])
    func `a value out of range is refused`(name: String, value: JSON, reason: String) {
        for event in [
            EventDomainEvent.created(EventCreated(owner: .ann, details: .picnic)), .updated(EventUpdated(details: .picnic)),
        ] {
            let stored = event.stored
            guard case .object(var object) = stored.data else {
                Issue.record("the stored data is no object")
                return
            }
            object[name] = value
            #expect(throws: FormatError("\(stored.type), format 1: \(reason)")) {
                try EventDomainEvent.decode(stored.type, together: JSON.object(object).utf8)
            }
        }
    }

    @Test(arguments: [(90.0, 180.0), (-90, -180), (0, 0), (-0.0, -0.0)])
    func `the ends of both coordinate ranges are accepted`(lat: Double, lon: Double) throws {
        var details = EventDetails.concert
        details.coordinates = Coordinates(lat: lat, lon: lon)
        let event = EventDomainEvent.updated(EventUpdated(details: details))
        #expect(try EventDomainEvent.decode("EventUpdated", together: event.stored.data.utf8) == event)
    }
}

@Suite struct `Erased domain events of events` {
    private static let times = #""started_at":"2013-09-16T00:00:00.000Z","ended_at":"2013-09-16T03:30:00.000Z""#

    private static func decode(_ type: String, _ facts: String, _ personal: Personal<String>?) throws -> EventDomainEvent {
        try EventDomainEvent.decode(
            StoredEvent(type: type, format: 1, facts: Array(facts.utf8), personal: personal?.map { Array($0.utf8) }))
    }

    @Test func `personal members beside the facts are read`() throws {
        let personal = Personal.present(#"{"salt":"00","name":"Picnic","address":"85 2nd Street","lat":37.76,"lon":-122.43}"#)
        #expect(
            try Self.decode("EventCreated", #"{"owner":1,\#(Self.times)}"#, personal)
                == .created(EventCreated(owner: .ann, details: .picnic)))
        #expect(
            try Self.decode("EventUpdated", "{\(Self.times)}", personal) == .updated(EventUpdated(details: .picnic)))
        #expect(
            try Self.decode("EventHidden", "{}", .present(#"{"salt":"00","reason":"Spam"}"#))
                == .hidden(EventHidden(reason: "Spam")))
    }

    @Test func `an erased event keeps its owner and its times`() throws {
        let facts = #"{"owner":1,\#(Self.times)}"#
        let created = try Self.decode("EventCreated", facts, .erased)
        guard case .created(let recorded) = created else {
            Issue.record("\(created)")
            return
        }
        #expect(recorded.owner == .ann)
        #expect(
            (recorded.details.startedAt, recorded.details.endedAt) == (EventDetails.picnic.startedAt, EventDetails.picnic.endedAt)
        )
        #expect(recorded.details.details == .erased)
        #expect(created.stored.data.text == facts)
        let updated = try Self.decode("EventUpdated", "{\(Self.times)}", .erased)
        #expect(updated.stored.data.text == "{\(Self.times)}")
        let hidden = try Self.decode("EventHidden", "{}", .erased)
        #expect(hidden.stored.data.text == "{}")
        #expect(hidden != .hidden(.fraud))
    }

    @Test func `the times of an erased event are checked`() {
        #expect(throws: FormatError("EventUpdated, format 1: no usable started_at in the stored data")) {
            try Self.decode("EventUpdated", #"{"started_at":"soon","ended_at":null}"#, .erased)
        }
    }

    @Test func `an event that never had personal members is refused`() {
        for (type, facts) in [
            ("EventCreated", #"{"owner":1,\#(Self.times)}"#), ("EventUpdated", "{\(Self.times)}"), ("EventHidden", "{}"),
        ] {
            #expect(throws: FormatError("\(type), format 1: no personal members in the stored data")) {
                try Self.decode(type, facts, nil)
            }
        }
    }

    @Test func `a rebuild that reads erased details leaves no row`() throws {
        let created = try Self.decode("EventCreated", #"{"owner":1,\#(Self.times)}"#, .erased)
        func envelope(_ event: EventDomainEvent, _ version: Int32) -> EventEnvelope<EventDomainEvent> {
            EventEnvelope(
                id: UUID(), stream: EventID(rawValue: 12).stream, version: version, recordedAt: .startOfPicnic,
                metadata: Metadata(requestID: "test", actor: nil, traceID: nil), event: event)
        }
        let twelve = EventID(rawValue: 12)
        for events in [
            [created], [created, .erased], [EventDomainEvent.created(EventCreated(owner: .ann, details: .picnic)), .erased],
        ] {
            let changes = EventsProjection().fold(events.enumerated().map { envelope($1, Int32($0 + 1)) })
            #expect((changes.created.map(\.id), changes.changed.map(\.id), changes.erased) == ([], [], [twelve]))
        }
    }
}

@Suite struct `The stream of an event` {
    @Test func `operators see in the state whether an event is cancelled or hidden, and no reason`() {
        #expect(EventDomainEvent.cancelled.state == ["cancelled": .bool(true)])
        #expect(EventDomainEvent.hidden(.fraud).state == ["hidden": .bool(true)])
        #expect(EventDomainEvent.unhidden.state == ["hidden": .bool(false)])
        let updated = EventDomainEvent.updated(EventUpdated(details: .picnic))
        #expect(updated.state == updated.stored.data)
    }

    @Test(
        arguments: [
            (.created(EventCreated(owner: .ann, details: .picnic)), "event-1", 2, "an event is created at version 1 only"),
            (.updated(EventUpdated(details: .picnic)), "event-1", 1, "an event is created before it is updated"),
            (.cancelled, "event-1", 1, "an event is created before it is cancelled"),
            (.hidden(.fraud), "event-1", 1, "an event is created before it is hidden"),
            (.unhidden, "event-1", 1, "an event is created before it is hidden"),
            (.erased, "event-1", 1, "an event is created before it is erased"),
            (.updated(EventUpdated(details: .picnic)), "event-+1", 2, "the stream is not named after an event's id"),
            (.created(EventCreated(owner: .ann, details: .picnic)), "user-1", 1, "the stream is not named after an event's id"),
        ] as [(EventDomainEvent, String, Int32, String)])
    func `an event stream begins with EventCreated and goes on with other domain events`(
        event: EventDomainEvent, stream: String, version: Int32, reason: String
    ) {
        let stored = StoredEvent(type: event.stored.type, format: 1, together: event.stored.data.utf8, of: EventDomainEvent.self)
        #expect(throws: FormatError("\(stored.type), format 1: \(reason)")) {
            try EventDomainEvent.decode(stored, in: StreamName(stream), version: version)
        }
    }

    @Test(arguments: [
        "user-12", "attendance-12-1", "event-x", "event-", "event-12-1", "event", "events-12", "event-0", "event--1", "event-+12",
        "event-012", "event-9223372036854775808",
    ])
    func `a stream name that is not an event's is refused`(stream: String) {
        #expect(EventID(stream: StreamName(stream)) == nil)
        #expect(EventID(stream: EventID(rawValue: 12).stream) == EventID(rawValue: 12))
    }
}
