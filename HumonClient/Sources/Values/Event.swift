public import Foundation

/// A gathering at a place and a time.
public struct Event: Sendable, Hashable, Identifiable {
    public typealias ID = Identifier<Event>

    public var id: ID
    public var name: String
    public var address: String?
    public var coordinate: Coordinate
    /// To the millisecond.
    public var startedAt: Date
    /// `nil` for an event without an announced end.
    public var endedAt: Date?
    /// The user who created the event, and who alone may change it.
    public var owner: User

    public init(
        id: ID, name: String, address: String? = nil, coordinate: Coordinate, startedAt: Date, endedAt: Date? = nil, owner: User
    ) {
        self.id = id
        self.name = name
        self.address = address
        self.coordinate = coordinate
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.owner = owner
    }
}

/// The JSON of the API, so that an app can keep events in a file.
extension Event: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, address, owner
        case startedAt = "started_at"
        case endedAt = "ended_at"
    }

    /// - Throws: `DecodingError` if the value is not an event of the API
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func date(_ text: String, _ key: CodingKeys) throws -> Date {
            guard let date = Timestamp.date(of: text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "not a time of the API")
            }
            return date
        }
        id = try fields.decode(ID.self, forKey: .id)
        name = try fields.decode(String.self, forKey: .name)
        address = try fields.decodeIfPresent(String.self, forKey: .address)
        coordinate = try Coordinate(from: decoder)
        startedAt = try date(try fields.decode(String.self, forKey: .startedAt), .startedAt)
        endedAt = try fields.decodeIfPresent(String.self, forKey: .endedAt).map { try date($0, .endedAt) }
        owner = try fields.decode(User.self, forKey: .owner)
    }

    /// - Throws: `EncodingError` if a coordinate is not finite
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(name, forKey: .name)
        try fields.encode(address, forKey: .address)
        try coordinate.encode(to: encoder)
        try fields.encode(Timestamp.text(of: startedAt), forKey: .startedAt)
        try fields.encode(endedAt.map { Timestamp.text(of: $0) }, forKey: .endedAt)
        try fields.encode(owner, forKey: .owner)
    }
}
