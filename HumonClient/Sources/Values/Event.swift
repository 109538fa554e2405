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
    /// What kind of event it is, such as `music`. More kinds may come.
    public var category: String?
    /// The time zone of the place, such as `Europe/Berlin`.
    public var timeZone: String?
    /// Plain text with line breaks. Only ``HumonAPI/event(_:)`` has it: lists and changes leave it out.
    public var description: String?
    /// An `http` or `https` address. Only ``HumonAPI/event(_:)`` has it: lists and changes leave it out.
    public var link: String?
    /// The user who created the event, and who alone may change it.
    public var owner: User

    public init(
        id: ID, name: String, address: String? = nil, coordinate: Coordinate, startedAt: Date, endedAt: Date? = nil,
        category: String? = nil, timeZone: String? = nil, description: String? = nil, link: String? = nil, owner: User
    ) {
        self.id = id
        self.name = name
        self.address = address
        self.coordinate = coordinate
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.category = category
        self.timeZone = timeZone
        self.description = description
        self.link = link
        self.owner = owner
    }
}

/// The JSON of the API, so that an app can keep events in a file.
extension Event: Codable {
    /// - Throws: `DecodingError` if the value is not an event of the API
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: EventField.self)
        func date(_ text: String, _ key: EventField) throws -> Date {
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
        category = try fields.decodeIfPresent(String.self, forKey: .category)
        timeZone = try fields.decodeIfPresent(String.self, forKey: .timeZone)
        description = try fields.decodeIfPresent(String.self, forKey: .description)
        link = try fields.decodeIfPresent(String.self, forKey: .link)
        owner = try fields.decode(User.self, forKey: .owner)
    }

    /// - Throws: `EncodingError` if a coordinate is not finite, or a time is outside of the years 0 to 9999
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: EventField.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(name, forKey: .name)
        try fields.encode(address, forKey: .address)
        try coordinate.encode(to: encoder)
        try fields.encode(startedAt, as: .startedAt)
        if let endedAt { try fields.encode(endedAt, as: .endedAt) } else { try fields.encodeNil(forKey: .endedAt) }
        try fields.encodeIfPresent(category, forKey: .category)
        try fields.encodeIfPresent(timeZone, forKey: .timeZone)
        try fields.encodeIfPresent(description, forKey: .description)
        try fields.encodeIfPresent(link, forKey: .link)
        try fields.encode(owner, forKey: .owner)
    }
}

/// All fields of an event that its owner decides. The server validates them and names every unusable field.
public struct EventDraft: Sendable, Hashable {
    public var name: String
    public var address: String?
    public var coordinate: Coordinate
    /// The server keeps it to the millisecond.
    public var startedAt: Date
    public var endedAt: Date?
    /// One of the kinds that the API's document names. Here and below, `nil` in a replacement keeps the text of the event.
    public var category: String?
    /// The time zone of the place, such as `Europe/Berlin`.
    public var timeZone: String?
    /// Plain text with line breaks, at most 4,000 Unicode scalars.
    public var description: String?
    /// An `http` or `https` address, at most 1,000 characters.
    public var link: String?

    public init(
        name: String, address: String? = nil, coordinate: Coordinate, startedAt: Date, endedAt: Date? = nil,
        category: String? = nil, timeZone: String? = nil, description: String? = nil, link: String? = nil
    ) {
        self.name = name
        self.address = address
        self.coordinate = coordinate
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.category = category
        self.timeZone = timeZone
        self.description = description
        self.link = link
    }

    /// The present fields of an event, to change some and replace the event.
    public init(_ event: Event) {
        self.init(
            name: event.name, address: event.address, coordinate: event.coordinate, startedAt: event.startedAt,
            endedAt: event.endedAt, category: event.category, timeZone: event.timeZone, description: event.description,
            link: event.link)
    }
}

extension EventDraft: Encodable {
    /// - Throws: `EncodingError` if a coordinate is not finite, or a time is outside of the years 0 to 9999
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: EventField.self)
        try fields.encode(name, forKey: .name)
        try fields.encodeIfPresent(address, forKey: .address)
        try fields.encode(coordinate.latitude, forKey: .lat)
        try fields.encode(coordinate.longitude, forKey: .lon)
        try fields.encode(startedAt, as: .startedAt)
        if let endedAt { try fields.encode(endedAt, as: .endedAt) }
        try fields.encodeIfPresent(category, forKey: .category)
        try fields.encodeIfPresent(timeZone, forKey: .timeZone)
        try fields.encodeIfPresent(description, forKey: .description)
        try fields.encodeIfPresent(link, forKey: .link)
    }
}

/// Some fields of an event to change. The others stay as they are on the server.
public struct EventPatch: Sendable, Hashable {
    /// What happens to an optional field.
    public enum Field<Value: Sendable & Hashable>: Sendable, Hashable {
        /// It stays as it is on the server.
        case keep
        /// The event has no such value any more.
        case clear
        /// It gets this value.
        case set(Value)
    }

    /// `nil` keeps the name.
    public var name: String?
    public var address: Field<String>
    /// `nil` keeps the place.
    public var coordinate: Coordinate?
    /// `nil` keeps the start.
    public var startedAt: Date?
    public var endedAt: Field<Date>
    public var category: Field<String>
    public var timeZone: Field<String>
    public var description: Field<String>
    public var link: Field<String>

    public init(
        name: String? = nil, address: Field<String> = .keep, coordinate: Coordinate? = nil, startedAt: Date? = nil,
        endedAt: Field<Date> = .keep, category: Field<String> = .keep, timeZone: Field<String> = .keep,
        description: Field<String> = .keep, link: Field<String> = .keep
    ) {
        self.name = name
        self.address = address
        self.coordinate = coordinate
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.category = category
        self.timeZone = timeZone
        self.description = description
        self.link = link
    }
}

/// A merge patch (RFC 7396).
extension EventPatch: Encodable {
    /// - Throws: `EncodingError` if a coordinate is not finite, or a time is outside of the years 0 to 9999
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: EventField.self)
        try fields.encodeIfPresent(name, forKey: .name)
        try fields.encode(address, as: .address)
        try fields.encodeIfPresent(coordinate?.latitude, forKey: .lat)
        try fields.encodeIfPresent(coordinate?.longitude, forKey: .lon)
        if let startedAt { try fields.encode(startedAt, as: .startedAt) }
        switch endedAt {
        case .keep: break
        case .clear: try fields.encodeNil(forKey: .endedAt)
        case .set(let date): try fields.encode(date, as: .endedAt)
        }
        try fields.encode(category, as: .category)
        try fields.encode(timeZone, as: .timeZone)
        try fields.encode(description, as: .description)
        try fields.encode(link, as: .link)
    }
}

private enum EventField: String, CodingKey {
    case id, name, address, lat, lon, owner, category, description, link
    case timeZone = "time_zone"
    case startedAt = "started_at"
    case endedAt = "ended_at"
}

/// The attendances of one event.
public struct AttendanceSummary: Sendable, Hashable, Codable {
    /// Number of users who attend the event.
    public var count: Int
    /// Whether the caller attends it.
    public var attending: Bool

    public init(count: Int, attending: Bool) {
        self.count = count
        self.attending = attending
    }
}

extension KeyedEncodingContainer<EventField> {
    fileprivate mutating func encode(_ date: Date, as field: EventField) throws {
        guard let text = Timestamp.text(of: date) else {
            let reason = "the time is outside of the years 0 to 9999"
            throw EncodingError.invalidValue(date, .init(codingPath: codingPath + [field], debugDescription: reason))
        }
        try encode(text, forKey: field)
    }

    fileprivate mutating func encode(_ change: EventPatch.Field<String>, as field: EventField) throws {
        switch change {
        case .keep: break
        case .clear: try encodeNil(forKey: field)
        case .set(let text): try encode(text, forKey: field)
        }
    }
}
