import Encoding
import EventStore
import Foundation
import Postgres

/// A domain event for tests with facts and a personal member, and with an erasure.
enum NoteEvent: DomainEvent, Hashable {
    case written(pages: Int64, text: Personal<String>)
    case read
    case erased

    static let category = "note"
    static let storedTypes = [StoredType("NoteWritten"), StoredType("NoteRead"), StoredType("NoteErased")]
    static let personal = PersonalMembers(["text"], of: ofPerson)

    /// All notes belong to every person.
    static let ofPerson = PersonalStreams(of: "person") { _, database in
        try await database.query("SELECT DISTINCT stream FROM log.recorded_events WHERE stream LIKE 'note-%' ORDER BY 1")
            .decode(String.self).map { PersonalStream(StreamName($0), endsWith: NoteEvent.erased) }
    }

    init(type: String, content: EventContent) throws {
        switch type {
        case "NoteWritten":
            self = .written(
                pages: try content.facts.stored("pages", \.storedInteger),
                text: try content.readPersonal { try $0.stored("text", \.storedString) })
        case "NoteRead": self = .read
        case "NoteErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .written(let pages, .present(let text)): ("NoteWritten", ["pages": JSON(pages), "text": .string(text)])
        case .written(let pages, .erased): ("NoteWritten", ["pages": JSON(pages)])
        case .read: ("NoteRead", [:])
        case .erased: ("NoteErased", [:])
        }
    }

    static func written(_ text: String) -> NoteEvent { .written(pages: 3, text: .present(text)) }
}

extension AppendRequest {
    /// Appends domain events to a note.
    static func noting(_ note: String, after version: Int32, _ events: NoteEvent...) -> AppendRequest {
        AppendRequest(
            id: UUID(), streams: [StreamAppend(events, to: StreamName(category: NoteEvent.category, key: note), after: version)],
            recordedAt: Timestamp(milliseconds: 1_379_289_600_123),
            metadata: Metadata(requestID: "test", actor: 7, traceID: nil))
    }
}

extension LogReader {
    /// All notes of the log.
    func notes() async throws -> [NoteEvent] {
        var notes: [NoteEvent] = []
        try await replay { page in notes += try page.map { try $0.decoded(as: NoteEvent.self).event } }
        return notes
    }
}
