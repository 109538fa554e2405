internal import Encoding
internal import EventStore
internal import SpatialIndex

/// Reads the fields of an event or of a search as a client sent them, one by one. Collects the validation errors in the order of
/// reading.
///
/// A number may come as a string. Tests pin the sentences, which are part of the v1 API.
struct EventFields {
    static let latitudes = -90.0...90.0
    static let longitudes = -180.0...180.0
    /// The longest name and the longest address, in Unicode scalars.
    static let textLimit = 255

    private let fields: JSON
    private(set) var errors: [FieldError] = []

    init(_ fields: JSON) { self.fields = fields }

    /// A field as it was sent.
    enum Field<Value> {
        /// The client did not send the field.
        case absent
        /// The field is null, or a text of spaces in a required field.
        case blank
        case value(Value)
        /// The field cannot be used. Its validation error is among ``EventFields/errors``.
        case unusable
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) -> Field<Double> {
        let value: Double
        switch fields[name] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where text.isBlank: return .blank
        case .string(let text), .number(let text):
            guard let number = Double(parsing: text) else { return unusable(.notANumber(name)) }
            // Without the sign of -0, which no client means.
            value = number + 0
        case .bool, .array, .object: return unusable(.notANumber(name))
        }
        return range.contains(value) ? .value(value) : unusable(.outOfRange(name, range))
    }

    mutating func wholeNumber(_ name: String, in range: ClosedRange<Double>) -> Field<Int64> {
        switch number(name, in: range) {
        case .absent: .absent
        case .blank: .blank
        case .value(let value): Int64(exactly: value).map { .value($0) } ?? unusable(.notAWholeNumber(name))
        case .unusable: .unusable
        }
    }

    mutating func name() -> Field<String> {
        switch fields["name"] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where text.isBlank: return .blank
        case .string(let text): return self.text(text, of: "name")
        case .bool, .number, .array, .object: return unusable(.notAText("name"))
        }
    }

    mutating func address() -> Field<String> {
        switch fields["address"] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text): return self.text(text, of: "address")
        case .bool, .number, .array, .object: return unusable(.notAText("address"))
        }
    }

    mutating func time(_ name: String) -> Field<Timestamp> {
        switch fields[name] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where text.isBlank: return .blank
        case .string(let text):
            guard let time = Timestamp(parsing: text) else { return unusable(.notATime(name)) }
            return .value(time)
        case .bool, .number, .array, .object: return unusable(.notATime(name))
        }
    }

    mutating func endsBeforeStart() {
        errors.append(FieldError("ended_at", .outOfRange, "must not be before started at"))
    }

    /// The fields `from` and `to`. After a validation error the result has no meaning.
    mutating func window() -> TimeWindow {
        let window = TimeWindow(from: time("from").optional, to: time("to").optional)
        if let from = window.from, let to = window.to, to < from {
            errors.append(FieldError("to", .outOfRange, "must not be before from"))
        }
        return window
    }

    mutating func cursor() -> Field<NearbySearch.Cursor> { cursor { NearbySearch.Cursor($0) } }

    /// The id of the last event of a page.
    mutating func eventCursor() -> Field<EventID> {
        cursor { EventID(stream: StreamName(category: EventDomainEvent.category, key: $0)) }
    }

    private mutating func cursor<Cursor>(_ read: (String) -> Cursor?) -> Field<Cursor> {
        switch fields["after"] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where text.isBlank: return .blank
        case .string(let text):
            guard let cursor = read(text) else { return unusable(.notACursor("after")) }
            return .value(cursor)
        case .bool, .number, .array, .object: return unusable(.notACursor("after"))
        }
    }

    /// `west,south,east,north` in degrees.
    mutating func box() -> Field<DegreeBox> {
        switch fields["bbox"] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where text.isBlank: return .blank
        case .string(let text):
            let degrees = text.parts(separatedBy: ",").compactMap { Double(parsing: String($0)) }
            guard degrees.count == 4, text.utf8.count(where: { $0 == UInt8(ascii: ",") }) == 3,
                Self.longitudes.contains(degrees[0]), Self.longitudes.contains(degrees[2]),
                Self.latitudes.contains(degrees[1]), Self.latitudes.contains(degrees[3]), degrees[1] <= degrees[3]
            else { return unusable(FieldError("bbox", .notABox, "is not a valid box")) }
            return .value(DegreeBox(south: degrees[1], west: degrees[0], north: degrees[3], east: degrees[2]).closedAtDateLine)
        case .bool, .number, .array, .object: return unusable(FieldError("bbox", .notABox, "is not a valid box"))
        }
    }

    /// The value of a required field; `nil` after a validation error.
    mutating func required<Value>(_ name: String, _ field: Field<Value>) -> Value? {
        switch field {
        case .value(let value): return value
        case .unusable: return nil
        case .absent, .blank:
            isBlank(name)
            return nil
        }
    }

    /// Maximum number of unknown fields that a response names.
    private static let namedUnknownFields = 10

    /// Refuses the fields that were sent, as no change reads any of them. Fields that an event has, and that clients send back, are
    /// ignored.
    mutating func refuseUnknown() {
        guard errors.isEmpty, case .object(let sent) = fields else { return }
        let unknown = sent.members.map(\.name).filter { !["id", "owner", "user"].contains($0) }
        errors = unknown.prefix(Self.namedUnknownFields).map { .unknown($0) }
    }

    mutating func mayNotStand(_ name: String, beside others: String) {
        errors.append(FieldError(name, .notAllowed, "must not stand beside \(others)"))
    }

    mutating func isBlank(_ name: String) { errors.append(.blank(name)) }

    private mutating func text(_ text: String, of name: String) -> Field<String> {
        guard text.utf8.count <= Self.textLimit || text.unicodeScalars.count <= Self.textLimit else {
            return unusable(.tooLong(name, maximum: Self.textLimit, "characters"))
        }
        guard !text.utf8.contains(0) else { return unusable(.nullCharacter(name)) }
        return .value(text)
    }

    private mutating func unusable<Value>(_ error: FieldError) -> Field<Value> {
        errors.append(error)
        return .unusable
    }
}

extension String {
    fileprivate var isBlank: Bool {
        // Nearly every text begins with ASCII, which needs no lookup in Unicode's tables.
        if let first = utf8.first, (0x21...0x7E).contains(first) { return false }
        return unicodeScalars.allSatisfy { $0.properties.isWhitespace }
    }
}

extension EventFields.Field {
    /// The value of an optional field.
    var optional: Value? {
        switch self {
        case .value(let value): value
        case .absent, .blank, .unusable: nil
        }
    }
}
