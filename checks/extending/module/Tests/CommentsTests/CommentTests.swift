import Encoding
import EventStore
import Events
import Foundation
import Testing
import Users

@testable import Comments

private let ann = UserID(rawValue: 1)
private let picnic = EventID(rawValue: 12)

@Suite struct `A comment` {
    @Test func `is stored as these bytes, both ways`() throws {
        let event = CommentDomainEvent.added(text: .present("I bring the tea."))
        #expect(event.stored.type == "CommentAdded")
        #expect(event.stored.data.text == #"{"text":"I bring the tea."}"#)
        let stored = StoredEvent(
            type: "CommentAdded", format: 1, facts: Array("{}".utf8),
            personal: .present(Array(#"{"text":"I bring the tea."}"#.utf8)))
        #expect(try CommentDomainEvent.decode(stored) == event)
    }

    @Test func `on an unknown event is refused`() {
        #expect(throws: CommentRejection.unknownEvent) {
            try decideComment("Hello", eventExists: false)
        }
    }

    @Test(
        arguments: [
            (" ", .blank("text")), ("a\0", .nullCharacter("text")),
            (String(repeating: "a", count: 1_001), .tooLong("text", maximum: 1_000, "characters")),
        ] as [(String, FieldError)])
    func `without a usable text is refused`(text: String, error: FieldError) {
        #expect(throws: CommentRejection.invalid(errors: [error])) {
            try decideComment(text, eventExists: true)
        }
    }

    private static func envelope(_ stream: String, _ version: Int32, _ event: CommentDomainEvent) -> EventEnvelope<
        CommentDomainEvent
    > {
        EventEnvelope(
            id: UUID(), stream: StreamName(stream), version: version, recordedAt: Timestamp(milliseconds: 0),
            metadata: Metadata(requestID: "test", actor: 1, traceID: nil), event: event)
    }

    @Test func `is a row until its author is erased`() {
        let hello = CommentDomainEvent.added(text: .present("Hello"))
        let ofAnn = CommentStream(event: picnic, author: ann)
        let row = CommentsProjection.Row(comments: ofAnn, number: 3, recordedAt: Timestamp(milliseconds: 0), text: "Hello")
        let added = Self.envelope("comments-12-1", 3, hello)
        #expect(CommentsProjection().fold([added]) == CommentsProjection.Changes(added: [row]))
        let ofOther = Self.envelope("comments-12-2", 1, .erased)
        let other = CommentStream(event: picnic, author: UserID(rawValue: 2))
        #expect(CommentsProjection().fold([added, ofOther]) == CommentsProjection.Changes(added: [row], ended: [other]))
        let erased = Self.envelope("comments-12-1", 4, .erased)
        #expect(CommentsProjection().fold([added, erased]) == CommentsProjection.Changes(ended: [ofAnn]))
    }

    @Test(arguments: ["comments-12", "comments-12-1-1", "comments-012-1", "comments-12-0", "comments--12-1", "event-12-1"])
    func `stands in no other stream than one of an event and an author`(stream: String) {
        #expect(CommentStream(StreamName(stream)) == nil)
    }
}
