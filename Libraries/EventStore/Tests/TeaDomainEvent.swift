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
                { data in ["seconds": JSON(try data.stored("minutes", \.storedInteger) * 60)] },
                // Format 2 did not have the sort.
                { data in ["seconds": JSON(try data.stored("seconds", \.storedInteger)), "sort": .null] },
            ]
        ),
        StoredType("TeaDrunk"),
    ]

    static let personalFields: Set<String> = []

    init(type: String, data: JSON) throws {
        switch type {
        case "TeaBrewed":
            self = .brewed(
                seconds: try data.stored("seconds", \.storedInteger),
                sort: try data.stored("sort") { $0.storedOptional(\.storedString) }
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
