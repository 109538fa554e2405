import Encoding
import Testing

@testable import EventStore

@Suite struct `Hiding personal data` {
    private enum Moved: DomainEvent {
        case moved

        static let category = "person"
        static let storedTypes = [StoredType("Moved")]
        static let personal = PersonalMembers.ofThePerson(["street"])

        init(type: String, content: EventContent) throws { self = .moved }
        var stored: (type: String, data: JSON) { ("Moved", [:]) }
    }

    private static let members: JSONObject = ["year": 2_013.json, "street": "Mission Street"]
    private static let data = JSON.object(members)

    /// Returns what is shown of a recorded event.
    private static func shown(
        _ personalData: PersonalData, _ facts: JSON, type: String = "Moved", personal: Personal<JSON>? = nil, category: String
    ) -> JSON {
        let event = StoredEvent(type: type, format: 1, facts: facts.utf8, personal: personal?.map(\.utf8))
        return personalData.shown(event, category: category)
    }

    @Test func `personal members are hidden, and no other member of a known event`() {
        let hiding = PersonalData(of: [Moved.self], isRevealed: false)
        let shown: JSON = ["year": 2_013.json, "street": "(hidden)"]
        #expect(Self.shown(hiding, Self.data, category: "person") == shown)
        #expect(JSON.object(hiding.shown(Self.members, category: "person")) == shown)
        #expect(Self.shown(hiding, ["street": .null], category: "person") == ["street": .null])
    }

    @Test func `every field of an unknown event type is hidden`() {
        let hiding = PersonalData(of: [Moved.self], isRevealed: false)
        let nothing: JSON = ["year": "(hidden)", "street": "(hidden)"]
        #expect(Self.shown(hiding, Self.data, type: "Teleported", category: "person") == nothing)
        #expect(Self.shown(hiding, Self.data, category: "robot") == nothing)
        #expect(JSON.object(hiding.shown(Self.members, category: "robot")) == nothing)
        #expect(Self.shown(hiding, "Mission Street", category: "person") == "(hidden)")
    }

    @Test func `personal members that stand apart are shown among the facts, hidden and without their salt`() {
        let hiding = PersonalData(of: [Moved.self], isRevealed: false)
        let revealing = PersonalData(of: [Moved.self], isRevealed: true)
        let facts: JSON = ["year": 2_013.json]
        let personal: Personal<JSON> = .present(["salt": "00", "street": "Mission Street"])
        #expect(
            Self.shown(hiding, facts, personal: personal, category: "person") == ["year": 2_013.json, "street": "(hidden)"])
        #expect(Self.shown(revealing, facts, personal: personal, category: "person") == Self.data)
    }

    @Test(arguments: [false, true]) func `after an erasure one member says so`(isRevealed: Bool) {
        let personalData = PersonalData(of: [Moved.self], isRevealed: isRevealed)
        let shown = Self.shown(personalData, ["year": 2_013.json], personal: .erased, category: "person")
        #expect(shown == ["year": 2_013.json, "personal": "(erased)"])
    }

    @Test func `a caller that asks for personal data gets it`() {
        let revealing = PersonalData(of: [Moved.self], isRevealed: true)
        #expect(Self.shown(revealing, Self.data, type: "Teleported", category: "robot") == Self.data)
        #expect(revealing.shown(Self.members, category: "person") == Self.members)
    }
}

extension Int {
    fileprivate var json: JSON { JSON(self) }
}
