import Encoding
import EventStore
import Testing
import Users

@testable import Events

@Suite struct `Creating an event` {
    @Test func `creating an event makes the caller its owner`() throws {
        #expect(try decide(CreateEvent(details: .picnic, owner: .ann)) == EventCreated(owner: .ann, details: .picnic))
    }
}

@Suite struct `Changing an event` {
    @Test func `updating an unknown event is rejected`() {
        let command = UpdateEvent(id: EventID(rawValue: 12), change: .replace(.concert), by: .ann)
        #expect(throws: EventRejection.notFound) { try decide(command, on: nil, mark: { _ in 0 }) }
    }

    @Test func `a user who does not own the event may not update it`() throws {
        let patch = try EventPatch(["name": "Tea"])
        for change in [UpdateEvent.Change.replace(.concert), .merge(patch)] {
            let command = UpdateEvent(id: Event.picnicOfAnn.id, change: change, by: .bob)
            #expect(throws: EventRejection.forbidden) { try decide(command, on: .picnicOfAnn, mark: { _ in 0 }) }
        }
    }

    @Test func `an update that changes no field is recorded all the same`() throws {
        let command = UpdateEvent(id: Event.picnicOfAnn.id, change: .replace(.picnic), by: .ann)
        #expect(try decide(command, on: .picnicOfAnn, mark: { _ in 0 }) == EventUpdated(details: .picnic))
    }
}

@Suite struct `Replacing an event` {
    @Test func `replacing an event replaces every field and clears those left out`() throws {
        let command = UpdateEvent(id: Event.picnicOfAnn.id, change: .replace(.concert), by: .ann)
        let updated = try decide(command, on: .picnicOfAnn, mark: { _ in 0 })
        #expect(updated == EventUpdated(details: .concert))
        #expect(updated?.present?.address == nil)
        #expect(updated?.details.endedAt == nil)
    }
}

@Suite struct `Merging into an event` {
    @Test(arguments: [[:], ["id": "7", "owner": ["id": .number("2")], "user": .null]] as [JSON])
    func `a patch without fields changes nothing, and neither does one that sends back what nobody can change`(json: JSON) throws
    {
        let command = UpdateEvent(id: Event.picnicOfAnn.id, change: .merge(try EventPatch(json)), by: .ann)
        #expect(try decide(command, on: .picnicOfAnn, mark: { _ in 0 }) == nil)
        let foreign = UpdateEvent(id: Event.picnicOfAnn.id, change: .merge(try EventPatch([:])), by: .bob)
        #expect(throws: EventRejection.forbidden) { try decide(foreign, on: .picnicOfAnn, mark: { _ in 0 }) }
    }

    @Test func `merging changes the given fields only`() throws {
        var renamed = EventDetails.picnic
        renamed.name = "Tea"
        #expect(try merged(["name": "Tea"]) == renamed)

        var moved = EventDetails.picnic
        moved.coordinates = Coordinates(lat: 51.5, lon: -122.43)
        #expect(try merged(["lat": .number("51.5")]) == moved)

        var movedEast = EventDetails.picnic
        movedEast.coordinates = Coordinates(lat: 37.76, lon: 13.4)
        #expect(try merged(["lon": "13.4"]) == movedEast)

        var later = EventDetails.picnic
        later.startedAt = .endOfPicnic
        #expect(try merged(["started_at": "2013-09-16T03:30:00Z"]) == later)
    }

    @Test func `merging sets a field that had no value`() throws {
        let command = UpdateEvent(
            id: Event.picnicOfAnn.id,
            change: .merge(try EventPatch(["address": "Opera House", "ended_at": "2013-09-16T00:00:00Z"])),
            by: .ann
        )
        var concert = Event.picnicOfAnn
        concert.details = .concert
        let updated = try decide(command, on: concert, mark: { _ in 0 })
        #expect(updated?.present?.address == "Opera House")
        #expect(updated?.details.endedAt == .startOfPicnic)
    }

    @Test func `merging clears a field that is null`() throws {
        var cleared = EventDetails.picnic
        cleared.address = nil
        #expect(try merged(["address": .null]) == cleared)
        cleared.endedAt = nil
        #expect(try merged(["address": .null, "ended_at": .null]) == cleared)
    }

    @Test func `merging clears an end that is white space`() throws {
        #expect(try merged(["ended_at": " "]).endedAt == nil)
    }

    @Test func `merging cannot clear a required field`() {
        let expected = ["Lat can't be blank", "Lon can't be blank", "Name can't be blank", "Started at can't be blank"]
        let nulls: JSON = ["started_at": .null, "name": .null, "lon": .null, "lat": .null]
        #expect(sentences { try EventPatch(nulls) } == expected)
        let blanks: JSON = ["started_at": "", "name": "  ", "lon": " ", "lat": ""]
        #expect(sentences { try EventPatch(blanks) } == expected)
    }

    @Test func `merging reports all errors together, those of optional fields too`() {
        let expected = [
            "Lat must be between -90 and 90", "Lon is not a number", "Name is not a text", "Started at is not a valid time",
            "Address is not a text", "Ended at is not a valid time",
        ]
        let sent: JSON = [
            "ended_at": "soon", "address": [], "started_at": "now", "name": .bool(true), "lon": "east", "lat": .number("91"),
        ]
        #expect(sentences { try EventPatch(sent) } == expected)
    }

    @Test func `merging ignores unknown fields beside known ones`() throws {
        #expect(
            try merged(["id": "7", "owner": ["id": JSON(2)], "address": .string(EventDetails.picnic.address ?? "")]) == .picnic)
    }

    @Test func `a patch with unknown fields only is refused, and 10 of them are named`() {
        #expect(
            sentences { try EventPatch(["nmae": "Tea", "a/b~": "x"]) }
                == ["Nmae is not a field that can be changed", "A/b~ is not a field that can be changed"])
        let many = (0..<100).map { JSONObject.Member(name: "x\($0)", value: .null) }
        #expect(sentences { try EventPatch(.object(JSONObject(members: many))) }.count == 10)
        #expect(sentences { try EventPatch(["nmae": "Tea", "lat": "x"]) } == ["Lat is not a number"])
        #expect(FieldError.unknown("a/b~").pointer == "/a~1b~0")
    }

    private func merged(_ json: JSON) throws -> EventDetails {
        let command = UpdateEvent(id: Event.picnicOfAnn.id, change: .merge(try EventPatch(json)), by: .ann)
        return try #require(try decide(command, on: .picnicOfAnn, mark: { _ in 0 })?.present)
    }
}
