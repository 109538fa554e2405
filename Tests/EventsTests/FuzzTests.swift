import Encoding
import EventStore
import Foundation
import SpatialIndex
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

/// Each input is read or refused with an error: a trap would end the test process.
@Suite struct `Decoding faulty stored events and searches` {
    private static let count = 5_000

    @Test(arguments: [1, 2] as [UInt64])
    func `a faulty stored event is decoded, folded, written and indexed, or refused with a named error`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let events: [EventDomainEvent] = [
            .created(by: .ann, .picnic), .created(by: .bob, .concert),
            .updated(.picnic), .updated(.described), .hidden(reason: .present("Spam")),
        ]
        let index = EventIndex()
        var accepted = 0
        for offset in 0..<Self.count {
            let original = events[offset % events.count].stored
            let stored = StoredEvent(
                type: original.type, format: 1, together: mutations.next(of: [original.data.utf8]), of: EventDomainEvent.self)
            let stream = StreamName(mutations.text(of: ["event-12", "event-9223372036854775807"]))
            let version = mutations.number(Int32.self)
            do {
                let event = try EventDomainEvent.decode(stored)
                try #require(
                    try EventDomainEvent.decode(stored.type, together: event.stored.data.utf8) == event
                )
                // The decoded event fits every projection, index and search.
                let envelope = EventEnvelope(
                    id: UUID(), stream: EventID(rawValue: Int64(offset + 1)).stream, version: 1, recordedAt: .startOfPicnic,
                    metadata: Metadata(requestID: "test", actor: nil, traceID: nil), event: event)
                let changes = EventsProjection().fold([envelope])
                for write in EventsProjection().writes(for: changes, in: "events_v1") { _ = write.statement }
                var batch = EventIndex.Batch()
                for created in changes.created {
                    let details = try #require(created.details)
                    let held = HeldEvent(
                        owner: .ann, version: 1, place: details.place, json: Array("{}".utf8), words: details.words)
                    batch.put(created.id, held)
                    let search = NearestRequest(centre: details.coordinates, radius: 1)
                    index.apply(batch, position: Int64(offset))
                    try #require(index.snapshot.event(created.id) != nil)
                    try #require(index.snapshot.search(search).result().count > 0)
                }
                accepted += 1
                try event.check(in: stream, version: version)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
        #expect(accepted > 100)
    }

    @Test(arguments: [3, 4] as [UInt64]) func `faulty details, patches and searches are read or refused with a named error`(
        seed: UInt64
    )
        throws
    {
        var mutations = Mutations(seed: seed)
        let bodies = [
            #"{"name":"Picnic","lat":"37.76","lon":-122.43,"started_at":"2013-09-16T00:00:00Z","address":null,"ended_at":""}"#,
            #"{"name":"x","lat":90,"lon":180,"started_at":"9999-12-31T23:59:59.999Z"}"#,
            #"{"name":"x","lat":9,"lon":8,"started_at":"2013-09-16T00:00:00Z","description":"a\r\nb","link":"https://a.example/%C3?b#c"}"#,
            #"{"name":"x","lat":9,"lon":8,"started_at":"2013-09-16T00:00:00Z","category":"music","time_zone":"Europe/Berlin"}"#,
        ]
        let queries = [
            "lat=37.76&lon=-122.43&radius=20&limit=1000&after=400c000000000000-12", "lat=-90&lon=-180&radius=50000",
            "lat=1&lon=2&q=Caf%C3%A9+e%CC%81+%E6%9D%B1+%F0%9F%91%A9%F0%9F%8F%BD&category=music",
        ]
        for _ in 0..<Self.count {
            if let json = try? JSON(utf8: mutations.next(of: bodies)) {
                do {
                    let details = try EventDetails(json)
                    // Details that may be recorded can also be read.
                    let stored = EventDomainEvent.created(by: .ann, details).stored
                    #expect(throws: Never.self) {
                        try EventDomainEvent.decode(stored.type, together: stored.data.utf8)
                    }
                    _ = try EventPatch(json).applied(to: details)
                    let replaced = try EventPatch(replacing: json).applied(to: details)
                    #expect(replaced == details)
                } catch {
                    guard case .invalid(let errors) = error, !errors.isEmpty else { throw error }
                }
            }
            if let json = try? JSON(query: mutations.next(of: queries)) {
                do { _ = try NearestRequest(json) } catch {
                    guard case .invalid(let errors) = error, !errors.isEmpty else { throw error }
                }
            }
        }
    }

    @Test(arguments: [7, 8] as [UInt64]) func `a faulty row of the read model is read or refused with a named error`(seed: UInt64)
        throws
    {
        var mutations = Mutations(seed: seed)
        for _ in 0..<Self.count {
            let bits = (0..<2).map { _ in Double(bitPattern: mutations.number(UInt64.self)) }
            do {
                let event = Event(
                    id: EventID(rawValue: mutations.number(Int64.self)), owner: UserID(rawValue: mutations.number(Int64.self)),
                    version: mutations.number(Int32.self),
                    details: EventDetails(
                        name: mutations.text(of: ["Picnic"]), coordinates: Coordinates(lat: bits[0], lon: bits[1]),
                        startedAt: Timestamp(milliseconds: mutations.number(Int64.self))))
                try event.check()
                _ = (event.version + 1, event.details.startedAt.description)
            } catch {
                try #require(error.description.contains("in the read model events_v1"))
            }
        }
    }
}
