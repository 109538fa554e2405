import Encoding
import EventStore
import Foundation
import Testing
import Users

@testable import Events

@Suite struct `Folding the domain events of events` {
    @Test func `no domain events give no event rows`() {
        #expect(EventsProjection().fold([]) == EventsProjection.Changes())
    }

    @Test func `EventCreated gives a new row`() {
        let changes = EventsProjection().fold([created(12, by: .ann, .picnic)])
        #expect(changes.created == [row(12, version: 1, owner: .ann, .picnic)])
        #expect(changes.updated.isEmpty)
    }

    @Test func `EventUpdated gives a changed row without an owner`() {
        let changes = EventsProjection().fold([updated(12, version: 5, .concert)])
        #expect(changes.created.isEmpty)
        #expect(changes.updated == [row(12, version: 5, owner: nil, .concert)])
    }

    @Test func `an event that is created and updated in one batch gives one new row`() {
        let changes = EventsProjection().fold([
            created(12, by: .bob, .picnic), updated(12, version: 2, .picnic), updated(12, version: 3, .concert),
        ])
        #expect(changes.created == [row(12, version: 3, owner: .bob, .concert)])
        #expect(changes.updated.isEmpty)
    }

    @Test func `an event that is updated twice in one batch gives one changed row`() {
        let changes = EventsProjection().fold([updated(12, version: 5, .picnic), updated(12, version: 6, .concert)])
        #expect(changes.updated == [row(12, version: 6, owner: nil, .concert)])
    }

    @Test func `rows of different events are separate, and each kind is sorted by id`() {
        let changes = EventsProjection().fold([
            updated(9, version: 2, .picnic), created(12, by: .ann, .picnic), created(11, by: .bob, .concert),
            updated(12, version: 2, .concert), updated(7, version: 3, .concert),
        ])
        #expect(changes.created == [row(11, version: 1, owner: .bob, .concert), row(12, version: 2, owner: .ann, .concert)])
        #expect(changes.updated == [row(7, version: 3, owner: nil, .concert), row(9, version: 2, owner: nil, .picnic)])
    }

    @Test func `streams of other categories give no event rows`() {
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
