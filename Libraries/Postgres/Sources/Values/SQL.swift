internal import Encoding

/// A statement and its parameters. Interpolated values are always bound, never spliced into the text:
/// `"SELECT name FROM things WHERE id = \(id)"`.
public struct SQL: Sendable {
    public private(set) var text: String
    private(set) var parameters: Parameters

    /// Text that the program itself wrote and that takes no parameters.
    public init(unsafeText text: String) {
        self.text = text
        parameters = Parameters()
    }
}

/// Only the text, because bound values may be secret.
extension SQL: CustomStringConvertible, CustomReflectable {
    public var description: String { text }
    public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}

/// Parameter values in PostgreSQL's binary format, one behind the other in one buffer.
struct Parameters: Sendable {
    struct Slot: Sendable {
        var type: UInt32
        var offset: Int
        /// nil is SQL's NULL.
        var length: Int?
    }

    private(set) var bytes: [UInt8] = []
    private(set) var slots: [Slot] = []

    mutating func append<Value: PostgresEncodable>(_ value: Value) {
        let offset = bytes.count
        guard !value.isNull else {
            slots.append(Slot(type: Value.postgresType, offset: offset, length: nil))
            return
        }
        value.encode(into: &bytes)
        slots.append(Slot(type: Value.postgresType, offset: offset, length: bytes.count - offset))
    }

    mutating func append(contentsOf others: Parameters) {
        for var slot in others.slots {
            slot.offset += bytes.count
            slots.append(slot)
        }
        bytes += others.bytes
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var parameters = Parameters()

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 3)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ value: some PostgresEncodable) {
            parameters.append(value)
            text += "$\(parameters.slots.count)"
        }

        /// A part of a statement, with the values that are bound in it.
        public mutating func appendInterpolation(_ part: SQL) {
            let before = parameters.slots.count
            guard before > 0, !part.parameters.slots.isEmpty else {
                text += part.text
                return parameters.append(contentsOf: part.parameters)
            }
            text += part.text.replacing(/\$(\d+)/) { match in "$\((Int(match.1) ?? 0) + before)" }
            parameters.append(contentsOf: part.parameters)
        }

        /// A name of a schema, table or column, quoted.
        public mutating func appendInterpolation(identifier: String) {
            text += quoted(identifier)
        }
    }

    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        parameters = stringInterpolation.parameters
    }

    public init(stringLiteral value: String) { self.init(unsafeText: value) }
}

/// A name as PostgreSQL reads it literally.
func quoted(_ identifier: String) -> String {
    "\"" + identifier.escaping { $0 == UInt8(ascii: "\"") ? "\"\"" : nil } + "\""
}
