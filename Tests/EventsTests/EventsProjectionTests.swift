import Encoding
import EventStore
import Foundation
import Testing
import Users

@testable import Events

@Suite struct `Folding the domain events of events` {
    @Test func `gives nothing for nothing`() {
        #expect(EventsProjection().fold([]) == EventsProjection.Changes())
    }

    @Test func `gives a new row for an event that was created`() {
        let changes = EventsProjection().fold([created(12, by: .ann, .picnic)])
        #expect(changes.created == [row(12, version: 1, owner: .ann, .picnic)])
        #expect(changes.updated.isEmpty)
    }

    @Test func `gives a changed row, without an owner, for an event that was updated`() {
        let changes = EventsProjection().fold([updated(12, version: 5, .concert)])
        #expect(changes.created.isEmpty)
        #expect(changes.updated == [row(12, version: 5, owner: nil, .concert)])
    }

    @Test func `gives one new row for an event that was created and updated`() {
        let changes = EventsProjection().fold([
            created(12, by: .bob, .picnic), updated(12, version: 2, .picnic), updated(12, version: 3, .concert),
        ])
        #expect(changes.created == [row(12, version: 3, owner: .bob, .concert)])
        #expect(changes.updated.isEmpty)
    }

    @Test func `gives one changed row for an event that was updated twice`() {
        let changes = EventsProjection().fold([updated(12, version: 5, .picnic), updated(12, version: 6, .concert)])
        #expect(changes.updated == [row(12, version: 6, owner: nil, .concert)])
    }

    @Test func `keeps events apart, each kind of row by id`() {
        let changes = EventsProjection().fold([
            updated(9, version: 2, .picnic), created(12, by: .ann, .picnic), created(11, by: .bob, .concert),
            updated(12, version: 2, .concert), updated(7, version: 3, .concert),
        ])
        #expect(changes.created == [row(11, version: 1, owner: .bob, .concert), row(12, version: 2, owner: .ann, .concert)])
        #expect(changes.updated == [row(7, version: 3, owner: nil, .concert), row(9, version: 2, owner: nil, .picnic)])
    }

    @Test func `passes over streams of other things`() {
        var foreign = created(12, by: .ann, .picnic)
        foreign.stream = StreamName("user-12")
        #expect(EventsProjection().fold([foreign]) == EventsProjection.Changes())
    }

    private func created(_ id: Int64, by owner: UserID, _ details: EventDetails) -> EventEnvelope<EventDomainEvent> {
        envelope(id, version: 1, .created(EventCreated(owner: owner, details: details)))
    }

    private func updated(_ id: Int64, version: Int32, _ details: EventDetails) -> EventEnvelope<EventDomainEvent> {
        envelope(id, version: version, .updated(EventUpdated(details: details)))
    }

    private func envelope(_ id: Int64, version: Int32, _ event: EventDomainEvent) -> EventEnvelope<EventDomainEvent> {
        EventEnvelope(
            id: UUID(derivedFrom: "\(id) \(version)"),
            stream: EventID(rawValue: id).stream,
            version: version,
            recordedAt: .startOfPicnic,
            metadata: Metadata(requestID: "r", actor: nil, traceID: nil),
            event: event
        )
    }

    private func row(
        _ id: Int64, version: Int32, owner: UserID?, _ details: EventDetails
    ) -> EventsProjection.Changes.Row {
        .init(id: EventID(rawValue: id), version: version, owner: owner, details: details)
    }
}
