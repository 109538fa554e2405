internal import Encoding
internal import Foundation
public import Logging

/// One line of text under construction. It stays one line, and in JSON one object, for all names and values.
public struct LogLine: Sendable {
    private static let ownNames: Set<String> = ["time", "level", "message"]

    let format: LogFormat
    private var bytes: [UInt8] = []

    /// Begins a line with the present time.
    public init(_ format: LogFormat, _ level: Logger.Level, _ message: String) {
        self.init(format, level, message, at: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)))
    }

    init(_ format: LogFormat, _ level: Logger.Level, _ message: String, at time: Timestamp) {
        self.format = format
        bytes.reserveCapacity(384)
        switch format {
        case .text:
            bytes.append(contentsOf: time.description.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: level.rawValue.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: Self.escaped(message).utf8)
        case .json:
            bytes.append(contentsOf: #"{"time":"#.utf8)
            time.writeJSON(into: &bytes)
            bytes.append(contentsOf: #","level":""#.utf8)
            bytes.append(contentsOf: level.rawValue.utf8)
            bytes.append(contentsOf: #"","message":"#.utf8)
            message.writeJSON(into: &bytes)
        }
    }

    public mutating func add(_ name: String, _ value: String) {
        begin(name)
        switch format {
        case .text: bytes.append(contentsOf: Self.word(value).utf8)
        case .json: value.writeJSON(into: &bytes)
        }
    }

    public mutating func add(_ name: String, _ value: Int) {
        begin(name)
        Int64(value).writeJSON(into: &bytes)
    }

    /// Adds a duration in milliseconds with three decimals.
    public mutating func add(_ name: String, nanoseconds: Int) {
        begin(name)
        Int64(nanoseconds / 1_000_000).writeJSON(into: &bytes)
        bytes.append(UInt8(ascii: "."))
        let microseconds = nanoseconds / 1_000 % 1_000
        for power in [100, 10, 1] { bytes.append(UInt8(ascii: "0") + UInt8(microseconds / power % 10)) }
    }

    mutating func add(_ name: String, _ value: Logger.MetadataValue) {
        switch (value, format) {
        case (.string(let text), _): add(name, text)
        case (.stringConvertible(let value), .text): add(name, value.description)
        case (.array, .text), (.dictionary, .text): add(name, value.json.text)
        case (.stringConvertible, .json), (.array, .json), (.dictionary, .json):
            begin(name)
            bytes.append(contentsOf: value.json.utf8)
        }
    }

    /// Ends the line.
    /// - Returns: the bytes of the line with its line feed
    consuming func finished() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func begin(_ name: String) {
        switch format {
        case .text:
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: Self.escaped(name).utf8)
            bytes.append(UInt8(ascii: "="))
        case .json:
            bytes.append(UInt8(ascii: ","))
            // JSON parsers disagree about an object with two members of one name.
            (Self.ownNames.contains(name) ? "metadata.\(name)" : name).writeJSON(into: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
    }

    /// The fast path for printable ASCII, which almost every text is.
    private static func escaped(_ text: String) -> String {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : text.escapingControlCharacters
    }

    /// The value in quotes, unless it is one plain word.
    private static func word(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        guard !isPlain else { return value }
        let escaped = value.escaping { [UInt8(ascii: "\\"), UInt8(ascii: "\"")].contains($0) ? "\\\(Unicode.Scalar($0))" : nil }
        return "\"\(escaped.escapingControlCharacters)\""
    }
}

extension Logger.MetadataValue {
    fileprivate var json: JSON {
        switch self {
        case .string(let text): .string(text)
        case .stringConvertible(let value as any BinaryInteger): .number("\(value)")
        case .stringConvertible(let value as any BinaryFloatingPoint) where "\(value)".contains(where: \.isNumber):
            .number("\(value)")
        case .stringConvertible(let value): .string(value.description)
        case .array(let values): .array(values.map(\.json))
        case .dictionary(let values):
            .object(
                JSONObject(members: values.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value.json) }))
        }
    }
}

/// The format of messages as lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message, then `name=value`.
    case text
    /// For programs: one JSON object a line.
    case json
}
