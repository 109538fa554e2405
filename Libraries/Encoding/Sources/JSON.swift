/// A JSON text (RFC 8259) as a value.
///
/// Members keep their order and numbers keep their digits. So the same value always gives the same bytes, and reading loses no
/// information. Values are equal if their bytes are.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number as it was written; see ``Swift/Double/init(parsing:)`` and ``Swift/Int64/init(parsing:)``.
    case number(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    // Not one for all integers: a generic one would not be specialised for its callers in other modules.
    public init(_ value: Int) { self = .number(value.description) }
    public init(_ value: Int64) { self = .number(value.description) }
    public init(_ value: Int32) { self = .number(value.description) }
    public init(_ value: Int16) { self = .number(value.description) }

    /// - Precondition: the value is finite; JSON has no other numbers.
    public init(_ value: Double) {
        precondition(value.isFinite, "JSON has no number for \(value)")
        self = .number(value.description)
    }

    public init(_ value: String?) { self = value.map(JSON.string) ?? .null }

    /// The member of that name; nil in anything but an object.
    public subscript(name: String) -> JSON? {
        if case .object(let object) = self { object[name] } else { nil }
    }
}

extension JSON {
    public static func == (left: JSON, right: JSON) -> Bool { left.utf8 == right.utf8 }
    public func hash(into hasher: inout Hasher) { hasher.combine(utf8) }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(members: elements.map { JSONObject.Member(name: $0.0, value: $0.1) }))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(members: elements.map { Member(name: $0.0, value: $0.1) })
    }
}

/// The members of a JSON object in the order they were written.
public struct JSONObject: Sendable, Hashable {
    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSON

        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }

        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }
        public func hash(into hasher: inout Hasher) { hasher.combine(JSON.object(JSONObject(members: [self]))) }
    }

    public private(set) var members: [Member]

    public init(members: [Member] = []) { self.members = members }

    /// The usual number of members of this project's objects.
    static let usualCount = 8

    init(reserving count: Int) {
        members = []
        members.reserveCapacity(count)
    }

    mutating func append(name: String, value: JSON) { members.append(Member(name: name, value: value)) }

    /// The value of a name; of several members with one name the last counts, as with most readers.
    public subscript(name: String) -> JSON? {
        get { members.last { $0.name.hasSameBytes(as: name) }?.value }
        set {
            members.removeAll { $0.name.hasSameBytes(as: name) }
            if let newValue { append(name: name, value: newValue) }
        }
    }
}
