package import Encoding
package import EventStore
internal import SpatialIndex

/// Reads the fields of an event, of a search or of a page of a list as a client sent them, one by one. Collects the validation
/// errors in the order of reading.
///
/// A number may come as a string. Tests pin the sentences, which are part of the v1 API.
package struct EventFields {
    static let latitudes = -90.0...90.0
    static let longitudes = -180.0...180.0
    /// The longest name and the longest address, in Unicode scalars.
    static let textLimit = 255

    let fields: JSON
    package private(set) var errors: [FieldError] = []

    package init(_ fields: JSON) { self.fields = fields }

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

    mutating func name() -> Field<String> { limited(read("name", else: .notAText("name")) { $0 }, "name") }

    mutating func address() -> Field<String> {
        limited(read("address", takesBlank: true, else: .notAText("address")) { $0 }, "address")
    }

    /// The optional texts that were sent; `nil` for one that is null or blank.
    mutating func texts() -> [EventText: String?] {
        var texts: [EventText: String?] = [:]
        for name in EventText.allCases {
            switch text(name) {
            case .absent, .unusable: break
            case .blank: texts.updateValue(nil, forKey: name)
            case .value(let text): texts.updateValue(text, forKey: name)
            }
        }
        return texts
    }

    private mutating func text(_ name: EventText) -> Field<String> {
        let field = read(name.rawValue, else: .notAText(name.rawValue)) { name.read($0) }
        guard case .value(let text) = field, let error = name.error(in: text) else { return field }
        return unusable(error)
    }

    mutating func time(_ name: String) -> Field<Timestamp> { read(name, else: .notATime(name)) { Timestamp(parsing: $0) } }

    /// Reads a text. One that cannot be read, and a value that is no text, has the validation error.
    private mutating func read<Value>(
        _ name: String, takesBlank: Bool = false, else error: @autoclosure () -> FieldError, _ read: (String) -> Value?
    ) -> Field<Value> {
        switch fields[name] {
        case nil: return .absent
        case .null: return .blank
        case .string(let text) where !takesBlank && text.isBlank: return .blank
        case .string(let text): if let value = read(text) { return .value(value) }
        case .bool, .number, .array, .object: break
        }
        return unusable(error())
    }

    mutating func endsBeforeStart() {
        errors.append(FieldError("ended_at", .outOfRange, "must not be before started at"))
    }

    /// The fields `from`, `to`, `q` and `category`. After a validation error the result has no meaning.
    mutating func filter() -> EventFilter {
        let window = EventFilter(from: time("from").optional, to: time("to").optional)
        if let from = window.from, let to = window.to, to < from {
            errors.append(FieldError("to", .outOfRange, "must not be before from"))
        }
        return words(in: window)
    }

    /// The fields `q` and `category`, beside a window. After a validation error the result has no meaning.
    mutating func words(in window: EventFilter = EventFilter()) -> EventFilter {
        var filter = window
        let text = read("q", else: .notAText("q")) { $0 }.optional
        do throws(FoldedWords.QueryError) {
            if let text { try filter.require(text) }
        } catch {
            switch error {
            case .tooLong: errors.append(.tooLong("q", maximum: FoldedWords.maximumScalars, "characters"))
            case .noWords: errors.append(FieldError("q", .invalidCharacters, "has no word"))
            case .tooManyWords:
                errors.append(FieldError("q", .tooMany, "has too many words (maximum is \(FoldedWords.maximumWords))"))
            }
        }
        filter.category = self.text(.category).optional
        return filter
    }

    /// The largest number of entries in a page.
    /// - Parameter maximum: the largest limit, and the default
    package mutating func limit(maximum: Int) -> Int {
        wholeNumber("limit", in: 1...Double(maximum)).optional.map { Int($0) } ?? maximum
    }

    /// The cursor behind which a page begins; `nil` for the first page.
    /// - Parameter cursor: reads a cursor; `nil` for a text that is none
    package mutating func after<Cursor>(_ cursor: (String) -> Cursor?) -> Cursor? {
        read("after", else: .notACursor("after"), cursor).optional
    }

    /// A cursor of the log, or a position alone: a whole number that a JSON number holds exactly.
    mutating func cursor(_ name: String) -> LogCursor? {
        if case .string(let text) = fields[name], let cursor = LogCursor(text), cursor.mark != nil { return cursor }
        return wholeNumber(name, in: 0...9_007_199_254_740_991).optional.map { LogCursor(position: $0) }
    }

    /// `west,south,east,north` in degrees.
    mutating func box() -> Field<DegreeBox> {
        read("bbox", else: FieldError("bbox", .notABox, "is not a valid box")) { text in
            let degrees = text.parts(separatedBy: ",").compactMap { Double(parsing: String($0)) }
            guard degrees.count == 4, text.utf8.count(where: { $0 == UInt8(ascii: ",") }) == 3,
                Self.longitudes.contains(degrees[0]), Self.longitudes.contains(degrees[2]),
                Self.latitudes.contains(degrees[1]), Self.latitudes.contains(degrees[3]), degrees[1] <= degrees[3]
            else { return nil }
            return DegreeBox(south: degrees[1], west: degrees[0], north: degrees[3], east: degrees[2]).closedAtDateLine
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

    private mutating func limited(_ field: Field<String>, _ name: String) -> Field<String> {
        guard case .value(let text) = field else { return field }
        guard text.utf8.count <= Self.textLimit || text.unicodeScalars.count <= Self.textLimit else {
            return unusable(.tooLong(name, maximum: Self.textLimit, "characters"))
        }
        return text.utf8.contains(0) ? unusable(.nullCharacter(name)) : field
    }

    private mutating func unusable<Value>(_ error: FieldError) -> Field<Value> {
        errors.append(error)
        return .unusable
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
