public import Encoding

/// What happened, as kept for ever. A module has one such type, an enum of all its domain events.
///
/// The stored names and formats are a promise: they are written out in code, pinned by tests, and never change. What changes
/// is the format's number, with an upcaster from the one before. A new format is read by one release and written by a later one:
/// ``StoredType/Writing``.
public protocol DomainEvent: Sendable {
    /// The category of the streams that hold these: the part of a stream's name before the first dash.
    static var category: String { get }

    /// All stored types, each with its current format.
    static var storedTypes: [StoredType] { get }

    /// What tells about a person, and whose it is. Tools hide these members unless `--reveal` is given. The protocol has no default, so
    /// every module must say it.
    static var personal: PersonalMembers { get }

    /// The members of stored data with unique values: the log holds each value in one recorded event of the category, under one name.
    /// Domain events without the member have no value.
    static var uniqueMembers: Set<String> { get }

    /// Reads the content of a type in its current format. The one place that checks stored values: arithmetic on the result
    /// cannot overflow.
    /// - Throws: ``FormatError`` where the content is not of that format, or a value is outside its range.
    init(type: String, content: EventContent) throws

    /// Checks what the data alone does not tell: whether this domain event may stand in this stream, at this version. Accepts all by
    /// default.
    /// - Throws: ``FormatError`` where it may not.
    func check(in stream: StreamName, version: Int32) throws

    /// The type's name, and facts and personal members together in the format that the type is written in. The log stores the
    /// ``personal`` members apart.
    var stored: (type: String, data: JSON) { get }

    /// The members that this domain event gives to the state of its stream, as operators see it: an object. By default the data. A
    /// cancellation, for example, has no data, and its state has a member that says so.
    var state: JSON { get }
}

/// A name under which domain events are stored, and the way from its old formats to the current one.
public struct StoredType: Sendable {
    public var name: String
    /// The first lifts format 1 to 2, and so on: pure functions, one step a format. After an erasure they get the facts alone.
    public var upcasters: [@Sendable (EventContent) throws -> EventContent]

    /// The format in which a program writes a type. A release must not write a format while servers run that cannot read it. So one
    /// release reads a new format, or a new type, and the next release writes it.
    public enum Writing: Sendable, Hashable {
        case currentFormat
        /// An earlier format than the current one, which all running servers can read.
        case format(Int16)
        /// The type is new: it is read and not written yet.
        case nothing
    }

    /// Differs between the release that only reads a new format and the release after it.
    public var writing: Writing

    public init(
        _ name: String, upcasters: [@Sendable (EventContent) throws -> EventContent] = [], writing: Writing = .currentFormat
    ) {
        self.name = name
        self.upcasters = upcasters
        self.writing = writing
    }

    /// Whether a domain event of this type ends its stream and the personal members there. Its name is that of the category and `Erased`,
    /// as in `UserErased`.
    static func isErasure(_ name: String) -> Bool { name.hasSuffix("Erased") }

    /// The name of the type that ends the streams of a category.
    static func erasure(of category: String) -> String { category.prefix(1).uppercased() + category.dropFirst() + "Erased" }

    /// The highest that is read.
    public var currentFormat: Int16 { Int16(upcasters.count + 1) }

    /// nil: the type is not written.
    public var writtenFormat: Int16? {
        switch writing {
        case .currentFormat: currentFormat
        case .format(let format): format
        case .nothing: nil
        }
    }
}

/// Why stored data cannot be read. Names the field, never its value.
public struct FormatError: Error, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}

extension DomainEvent {
    public static var uniqueMembers: Set<String> { [] }

    public func check(in stream: StreamName, version: Int32) {}

    public var state: JSON { stored.data }

    /// Reads a domain event where the log has it.
    /// - Throws: ``FormatError`` with type, format and field
    public static func decode(_ stored: StoredEvent, in stream: StreamName, version: Int32) throws -> Self {
        let event = try decode(stored)
        do { try event.check(in: stream, version: version) } catch {
            throw FormatError("\(stored.type), format \(stored.format): \(error)")
        }
        return event
    }

    /// Reads content of any format that was ever stored.
    /// - Throws: ``FormatError`` with type, format and field
    public static func decode(_ event: StoredEvent) throws -> Self {
        let (type, format) = (event.type, event.format)
        guard let stored = storedTypes.first(where: { $0.name == type }) else {
            throw FormatError("no stored type \(type) in category \(category)")
        }
        guard (1...stored.currentFormat).contains(format) else {
            throw FormatError("\(type) has formats 1 to \(stored.currentFormat), not \(format): written by a newer program")
        }
        do {
            let content = try EventContent(event)
            return try Self(type: type, content: stored.upcasters[Int(format - 1)...].reduce(content) { try $1($0) })
        } catch {
            throw FormatError("\(type), format \(format): \(error)")
        }
    }

    static func writtenFormat(of type: String) -> Int16 {
        guard let format = storedTypes.first(where: { $0.name == type })?.writtenFormat else {
            fatalError("\(type) is not among the stored types that \(Self.self) writes")
        }
        return format
    }
}

extension JSON {
    /// A member that a stored format promises.
    /// - Throws: ``FormatError``
    @inlinable  // so that it is specialised in the modules: a replay spends its time here
    public func stored<Value>(_ name: String, _ read: (JSON) -> Value?) throws -> Value {
        guard let value = self[name].flatMap(read) else { throw FormatError("no usable \(name) in the stored data") }
        return value
    }

    public var storedString: String? { if case .string(let string) = self { string } else { nil } }
    public var storedInteger: Int64? { if case .number(let digits) = self { Int64(parsing: digits) } else { nil } }
    public var storedDouble: Double? { if case .number(let digits) = self { Double(parsing: digits) } else { nil } }
    /// The number of a user, an event or another thing: from 1.
    public var storedID: Int64? { storedInteger.flatMap { $0 > 0 ? $0 : nil } }
    public var storedTimestamp: Timestamp? { storedString.flatMap(Timestamp.init(rfc3339:)) }

    /// Some for null too: such a member is present and has no value.
    @inlinable
    public func storedOptional<Value>(_ read: (JSON) -> Value?) -> Value?? {
        if case .null = self { .some(nil) } else { read(self).map(Optional.some) }
    }
}
