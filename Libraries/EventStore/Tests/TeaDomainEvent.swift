import Encoding
import EventStore

/// A domain event for tests with three formats.
enum TeaDomainEvent: DomainEvent, Hashable {
    case brewed(seconds: Int64, sort: String?)
    case drunk

    static let category = "tea"
    static let storedTypes = [
        StoredType(
            "TeaBrewed",
            upcasters: [
                // Format 1 had the time in minutes.
                { EventContent(["seconds": JSON(try $0.facts.stored("minutes", \.storedInteger) * 60)]) },
                // Format 2 did not have the sort.
                { EventContent(["seconds": JSON(try $0.facts.stored("seconds", \.storedInteger)), "sort": .null]) },
            ]
        ),
        StoredType("TeaDrunk"),
    ]

    static let personal = PersonalMembers.none

    init(type: String, content: EventContent) throws {
        switch type {
        case "TeaBrewed":
            self = .brewed(
                seconds: try content.facts.stored("seconds", \.storedInteger),
                sort: try content.facts.stored("sort") { $0.storedOptional(\.storedString) }
            )
        case "TeaDrunk": self = .drunk
        default: throw FormatError("no stored type \(type)")
        }
    }

    var stored: (type: String, data: JSON) {
        switch self {
        case .brewed(let seconds, let sort): ("TeaBrewed", ["seconds": JSON(seconds), "sort": JSON(sort)])
        case .drunk: ("TeaDrunk", [:])
        }
    }
}
