import Encoding
import EventStore
import TestDatabase
import Users

@testable import Events

extension UserID {
    static let ann = UserID(rawValue: 1)
    static let bob = UserID(rawValue: 2)
}

extension Timestamp {
    /// 2013-09-16T00:00:00.000Z
    static let startOfPicnic = Timestamp(milliseconds: 1_379_289_600_000)
    /// 2013-09-16T03:30:00.000Z
    static let endOfPicnic = Timestamp(milliseconds: 1_379_302_200_000)
}

extension EventDetails {
    static let picnic = {
        var details = EventDetails(
            name: "Picnic", coordinates: Coordinates(lat: 37.76, lon: -122.43), startedAt: .startOfPicnic)
        (details.address, details.endedAt) = ("85 2nd Street", .endOfPicnic)
        return details
    }()

    /// The required fields only.
    static let concert = EventDetails(
        name: "Concert", coordinates: Coordinates(lat: -33.5, lon: 151), startedAt: .endOfPicnic)
}

extension EventDomainEvent {
    static let fraud = hidden(reason: .present("Sells tickets that do not exist"))

    static func created(by owner: UserID, _ details: EventDetails) -> Self {
        created(OwnedDetails(details, of: owner))
    }

    static func updated(_ details: EventDetails) -> Self { updated(RecordedDetails(details)) }
}

extension EventPatch {
    /// Sets every field.
    static func replace(_ details: EventDetails) -> EventPatch {
        var patch = EventPatch.empty
        (patch.lat, patch.lon) = (details.coordinates.lat, details.coordinates.lon)
        (patch.name, patch.startedAt) = (details.name, details.startedAt)
        (patch.address, patch.endedAt) = (.some(details.address), .some(details.endedAt))
        for name in EventText.allCases { patch.texts.updateValue(details.texts[name], forKey: name) }
        return patch
    }
}

extension EventEnvelope<EventDomainEvent> {
    /// A domain event of the event with this id.
    static func of(_ id: Int64, version: Int32, _ event: EventDomainEvent) -> Self {
        .of(event, in: "event-\(id)", version: version, at: Timestamp.startOfPicnic.milliseconds)
    }
}

extension Event {
    static let picnicOfAnn = Event(id: EventID(rawValue: 12), owner: .ann, version: 1, details: .picnic)
}

extension EventRow {
    /// The whole row of an event.
    init(_ event: Event) {
        self.init(
            id: event.id, version: event.version, owner: event.owner, details: event.details, isCancelled: event.isCancelled,
            isHidden: event.isHidden, revisedAt: event.revisedAt)
    }
}

extension [EventID: Event] {
    /// The events after this domain event, written apart from the fold that tests compare with it.
    mutating func apply(_ envelope: EventEnvelope<EventDomainEvent>) {
        guard let id = EventID(stream: envelope.stream) else { return }
        switch envelope.event {
        case .created(let new):
            if case .present(let details) = new.details.details {
                self[id] = Event(id: id, owner: new.owner, version: 1, details: details)
            }
        case .updated(let recorded):
            if case .present(let details) = recorded.details { self[id]?.details = details }
        case .cancelled: self[id]?.isCancelled = true
        case .hidden: self[id]?.isHidden = true
        case .unhidden: self[id]?.isHidden = false
        case .erased: self[id] = nil
        }
        self[id]?.version = envelope.version
        self[id]?.revisedAt = envelope.recordedAt
    }
}

/// The sentences of the validation errors that the body throws; empty if it throws nothing.
func sentences<Value>(_ body: () throws -> Value) -> [String] {
    do {
        _ = try body()
        return []
    } catch {
        guard case EventRejection.invalid(let errors) = error else { return ["\(error)"] }
        return errors.map(\.detail)
    }
}
