import Encoding
import Testing

@testable import EventStore

@Suite struct `Hiding personal data` {
    private enum Moved: DomainEvent {
        case moved

        static let category = "person"
        static let storedTypes = [StoredType("Moved")]
        static let personalFields: Set<String> = ["street"]

        init(type: String, data: JSON) throws { self = .moved }
        var stored: (type: String, data: JSON) { ("Moved", [:]) }
    }

    private static let data: JSON = ["year": 2_013.json, "street": "Mission Street"]

    @Test func `personal fields are hidden, and no other field of a known event`() {
        let hiding = PersonalData(of: [Moved.self], isRevealed: false)
        let shown: JSON = ["year": 2_013.json, "street": "(hidden)"]
        #expect(hiding.shown(Self.data, type: "Moved", category: "person") == shown)
        #expect(hiding.shown(Self.data, category: "person") == shown)
        #expect(hiding.shown(["street": .null], type: "Moved", category: "person") == ["street": .null])
    }

    @Test func `every field of an unknown event type is hidden`() {
        let hiding = PersonalData(of: [Moved.self], isRevealed: false)
        let nothing: JSON = ["year": "(hidden)", "street": "(hidden)"]
        #expect(hiding.shown(Self.data, type: "Teleported", category: "person") == nothing)
        #expect(hiding.shown(Self.data, type: "Moved", category: "robot") == nothing)
        #expect(hiding.shown(Self.data, category: "robot") == nothing)
        #expect(hiding.shown("Mission Street", type: "Moved", category: "person") == "(hidden)")
    }

    @Test func `a caller that asks for personal data gets it`() {
        let revealing = PersonalData(of: [Moved.self], isRevealed: true)
        #expect(revealing.shown(Self.data, type: "Teleported", category: "robot") == Self.data)
        #expect(revealing.shown(Self.data, category: "person") == Self.data)
    }
}

extension Int {
    fileprivate var json: JSON { JSON(self) }
}
