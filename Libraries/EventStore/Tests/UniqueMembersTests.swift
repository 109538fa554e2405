import Encoding
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// A domain event for tests: only one of its two types has the unique member.
private enum Label: DomainEvent, Hashable {
    case put(String)
    case read

    static let category = "label"
    static let storedTypes = [StoredType("LabelPut"), StoredType("LabelRead")]
    static let personal = PersonalMembers.none
    static let uniqueMembers: Set<String> = ["label"]

    init(type: String, content: EventContent) throws {
        switch type {
        case "LabelPut": self = .put(try content.facts.stored("label", \.storedString))
        case "LabelRead": self = .read
        default: throw FormatError("no stored type \(type)")
        }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .put(let label): ("LabelPut", ["label": .string(label)])
        case .read: ("LabelRead", [:])
        }
    }
}

@Suite(.database) struct `Verifying the unique members of a category` {
    @Test func `a repeated value is a violation, and events without the member are none`() async throws {
        for (offset, event) in [Label.put("a"), .read, .read, .put("b"), .put("a")].enumerated() {
            try await database.asSuperuser(
                """
                INSERT INTO log.recorded_events VALUES (\(Int64(offset + 1)), gen_random_uuid(), \("label-\(offset + 1)"), 1,
                    \(event.stored.type), 1, now(), \(event.stored.data.text)::text::json,
                    '{"request_id":"r","actor":1,"trace_id":null}')
                """)
        }
        let violations = try await database.withClient(role: "log_app") { client in
            var verification = try await LogVerification(of: LogReader(client: client), decodedBy: [Label.self])
            try await verification.examineTables(client, sequences: [])
            return verification.violations.map { "\($0.firstPosition ?? 0) \($0.reason)" }
        }
        #expect(violations == ["5 the label of label-5 stands in a recorded event before"])
    }
}
