import Encoding
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Taking facts and personal members apart` {
    private static let all: JSON = ["pages": JSON(Int64(3)), "text": "Dear Ann", "signed": .null]

    @Test func `personal members are taken out of the facts, and both keep their order`() {
        let content = EventContent(all: Self.all, personalMembers: ["text", "signed", "address"])
        #expect(content.facts.text == #"{"pages":3}"#)
        #expect(content.personal?.map(\.text) == .present(#"{"text":"Dear Ann","signed":null}"#))
        #expect(content.all.text == #"{"pages":3,"text":"Dear Ann","signed":null}"#)
    }

    @Test func `data without personal members has facts alone`() {
        #expect(EventContent(all: Self.all, personalMembers: []) == EventContent(Self.all))
        #expect(EventContent(all: Self.all, personalMembers: ["address"]) == EventContent(Self.all))
        #expect(EventContent(all: "Dear Ann", personalMembers: ["text"]) == EventContent("Dear Ann"))
    }

    @Test func `facts and personal members are put together, and facts alone are left after an erasure`() {
        let content = EventContent(["pages": JSON(Int64(3))], personal: .present(["text": "Dear Ann"]))
        #expect(content.all.text == #"{"pages":3,"text":"Dear Ann"}"#)
        #expect(EventContent(["pages": JSON(Int64(3))], personal: .erased).all.text == #"{"pages":3}"#)
    }

    @Test func `an erased domain event is read with its facts, and one that never had its personal members is refused`() {
        #expect(
            NoteEvent.faults(of: [
                (.written("Dear Ann"), "NoteWritten", #"{"pages":3,"text":"Dear Ann"}"#), (.read, "NoteRead", "{}"),
                (.erased, "NoteErased", "{}"),
            ]) == [])
        let empty = StoredEvent(
            type: "NoteWritten", format: 1, facts: Array(#"{"pages":3}"#.utf8), personal: .present(Array("{}".utf8)))
        #expect(throws: FormatError("NoteWritten, format 1: no usable text in the stored data")) { try NoteEvent.decode(empty) }
    }
}
