import Encoding
import EventStore

/// A domain event of these tests only, whose format changed twice.
enum TeaDomainEvent: DomainEvent, Hashable {
    case brewed(seconds: Int64, sort: String?)
    case drunk

    static let category = "tea"
    static let storedTypes = [
        StoredType(
            "TeaBrewed",
            upcasters: [
                // From 1 to 2: the time was kept in minutes.
                { data in ["seconds": JSON(try data.stored("minutes", \.storedInteger) * 60)] },
                // From 2 to 3: the sort was not kept.
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
