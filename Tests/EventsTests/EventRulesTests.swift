import Encoding
import EventStore
import Testing
import Users

@testable import Events

private func changed(_ event: Event?, _ patch: EventPatch, by caller: UserID = .ann) throws(EventRejection) -> EventDetails? {
    try decide(patch, of: event, by: caller, if: VersionCondition(), mark: { _ in 0 })
}

@Suite struct `Creating and replacing an event` {
    @Test func `creating an event makes the caller its owner`() throws {
        #expect(try decideCreation(of: .picnic, by: .ann) == .created(OwnedDetails(.picnic, of: .ann)))
    }

    @Test func `the owner alone updates an event, and an unknown one is not found`() throws {
        #expect(throws: EventRejection.notFound) { try changed(nil, .replace(.concert)) }
        for patch in [.replace(.concert), try EventPatch(["name": "Tea"])] as [EventPatch] {
            #expect(throws: EventRejection.forbidden) { try changed(.picnicOfAnn, patch, by: .bob) }
        }
    }

    @Test func `replacing an event clears the fields left out, and is recorded if it changes nothing`() throws {
        #expect(try changed(.picnicOfAnn, .replace(.concert)) == .concert)
        #expect(try changed(.picnicOfAnn, .replace(.picnic)) == .picnic)
    }
}

@Suite struct `Merging into an event` {
    @Test(arguments: [[:], ["id": "7", "owner": ["id": .number("2")], "user": .null]] as [JSON])
    func `a patch without fields changes nothing, and neither does one that sends back what nobody can change`(json: JSON) throws
    {
        #expect(try changed(.picnicOfAnn, try EventPatch(json)) == nil)
        #expect(throws: EventRejection.forbidden) { try changed(.picnicOfAnn, try EventPatch([:]), by: .bob) }
    }

    @Test func `merging changes the given fields only, and clears those that are null`() throws {
        let changes: [(patch: JSON, change: (inout EventDetails) -> Void)] = [
            (["name": "Tea"], { $0.name = "Tea" }), (["lat": .number("51.5")], { $0.coordinates.lat = 51.5 }),
            (["lon": "13.4"], { $0.coordinates.lon = 13.4 }),
            (["started_at": "2013-09-16T03:30:00Z"], { $0.startedAt = .endOfPicnic }),
            (["address": .null], { $0.address = nil }),
            (["address": .null, "ended_at": .null], { ($0.address, $0.endedAt) = (nil, nil) }),
            (["ended_at": " "], { $0.endedAt = nil }),
            // Unknown fields beside known ones are ignored.
            (["id": "7", "owner": ["id": JSON(2)], "address": "85 2nd Street"], { _ in }),
        ]
        for (patch, change) in changes {
            var expected = EventDetails.picnic
            change(&expected)
            #expect(try merged(patch) == expected)
        }
        var concert = Event.picnicOfAnn
        concert.details = .concert
        let updated = try merged(["address": "Opera House", "ended_at": "2013-09-16T00:00:00Z"], into: concert)
        #expect(updated.address == "Opera House")
        #expect(updated.endedAt == .startOfPicnic)
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

    @Test func `a patch with unknown fields only is refused, and 10 of them are named`() {
        #expect(
            sentences { try EventPatch(["nmae": "Tea", "a/b~": "x"]) }
                == ["Nmae is not a field that can be changed", "A/b~ is not a field that can be changed"])
        let many = (0..<100).map { JSONObject.Member(name: "x\($0)", value: .null) }
        #expect(sentences { try EventPatch(.object(JSONObject(members: many))) }.count == 10)
        #expect(sentences { try EventPatch(["nmae": "Tea", "lat": "x"]) } == ["Lat is not a number"])
        #expect(FieldError.unknown("a/b~").pointer == "/a~1b~0")
    }

    private func merged(_ json: JSON, into event: Event = .picnicOfAnn) throws -> EventDetails {
        try #require(try changed(event, try EventPatch(json)))
    }
}
