import Encoding
import Testing

@testable import EventStore

@Suite struct `Hiding personal data` {
    private static let members: JSONObject = ["pages": JSON(3), "text": "Dear Ann"]
    private static let data = JSON.object(members)
    private static let (hiding, revealing) = (
        Redaction(of: [NoteEvent.self], isRevealed: false), Redaction(of: [NoteEvent.self], isRevealed: true)
    )

    /// Returns what is shown of a recorded event.
    private static func shown(
        _ redaction: Redaction, _ facts: JSON, type: String = "NoteWritten", personal: Personal<JSON>? = nil,
        category: String = "note"
    ) -> JSON {
        let event = StoredEvent(type: type, format: 1, facts: facts.utf8, personal: personal?.map(\.utf8))
        return redaction.shown(event, category: category)
    }

    @Test func `personal members are hidden, and no other member of a known event`() {
        let shown: JSON = ["pages": JSON(3), "text": "(hidden)"]
        #expect(Self.shown(Self.hiding, Self.data) == shown)
        #expect(JSON.object(Self.hiding.shown(Self.members, category: "note")) == shown)
        #expect(Self.shown(Self.hiding, ["text": .null]) == ["text": .null])
    }

    @Test func `every field of an unknown event type is hidden, unless the caller asks for personal data`() {
        let nothing: JSON = ["pages": "(hidden)", "text": "(hidden)"]
        #expect(Self.shown(Self.hiding, Self.data, type: "NoteLost") == nothing)
        #expect(Self.shown(Self.hiding, Self.data, category: "robot") == nothing)
        #expect(JSON.object(Self.hiding.shown(Self.members, category: "robot")) == nothing)
        #expect(Self.shown(Self.hiding, "Dear Ann") == "(hidden)")
        #expect(Self.shown(Self.revealing, Self.data, type: "NoteLost", category: "robot") == Self.data)
        #expect(Self.revealing.shown(Self.members, category: "note") == Self.members)
    }

    @Test func `personal members that stand apart are shown among the facts, and an erasure says so`() {
        let facts: JSON = ["pages": JSON(3)]
        let personal: Personal<JSON> = .present(["text": "Dear Ann"])
        #expect(Self.shown(Self.hiding, facts, personal: personal) == ["pages": JSON(3), "text": "(hidden)"])
        #expect(Self.shown(Self.revealing, facts, personal: personal) == Self.data)
        for redaction in [Self.hiding, Self.revealing] {
            #expect(Self.shown(redaction, facts, personal: .erased) == ["pages": JSON(3), "personal": "(erased)"])
        }
    }
}
