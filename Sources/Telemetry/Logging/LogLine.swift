internal import Encoding
internal import Foundation
internal import Logging

/// One line of the log, being put together. Whatever is put into it, it stays one line, and in JSON one object.
struct LogLine {
    private static let ownNames: Set<String> = ["time", "level", "message"]

    private let format: LogFormat
    private var bytes: [UInt8] = []

    init(_ format: LogFormat, _ level: Logger.Level, _ message: String, at time: Timestamp = .now) {
        self.format = format
        bytes.reserveCapacity(384)
        switch format {
        case .text:
            bytes.append(contentsOf: time.description.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: level.rawValue.utf8)
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: Self.harmlessLine(message).utf8)
        case .json:
            bytes.append(contentsOf: #"{"time":"#.utf8)
            time.writeJSON(into: &bytes)
            bytes.append(contentsOf: #","level":""#.utf8)
            bytes.append(contentsOf: level.rawValue.utf8)
            bytes.append(contentsOf: #"","message":"#.utf8)
            message.writeJSON(into: &bytes)
        }
    }

    mutating func add(_ name: String, _ value: String) {
        begin(name)
        switch format {
        case .text: bytes.append(contentsOf: Self.word(value).utf8)
        case .json: value.writeJSON(into: &bytes)
        }
    }

    mutating func add(_ name: String, _ value: Int) {
        begin(name)
        Int64(value).writeJSON(into: &bytes)
    }

    /// In milliseconds, to the microsecond.
    mutating func add(_ name: String, nanoseconds: Int) {
        begin(name)
        Int64(nanoseconds / 1_000_000).writeJSON(into: &bytes)
        bytes.append(UInt8(ascii: "."))
        let microseconds = nanoseconds / 1_000 % 1_000
        for power in [100, 10, 1] { bytes.append(UInt8(ascii: "0") + UInt8(microseconds / power % 10)) }
    }

    mutating func add(_ name: String, _ value: Logger.MetadataValue) {
        switch (value, format) {
        case (.string(let text), _): add(name, text)
        case (.stringConvertible(let value), _): add(name, value.description)
        case (.array, .text), (.dictionary, .text): add(name, value.json.text)
        case (.array, .json), (.dictionary, .json):
            begin(name)
            bytes.append(contentsOf: value.json.utf8)
        }
    }

    /// With its end.
    consuming func finished() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func begin(_ name: String) {
        switch format {
        case .text:
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: Self.harmlessLine(name).utf8)
            bytes.append(UInt8(ascii: "="))
        case .json:
            bytes.append(UInt8(ascii: ","))
            // Two members of one name would be no object that everybody reads alike.
            (Self.ownNames.contains(name) ? "metadata.\(name)" : name).writeJSON(into: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
    }

    /// Almost every text is of printable ASCII; that is seen at once.
    private static func harmlessLine(_ text: String) -> String {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : harmless(text)
    }

    /// In quotes, unless it is one word without them.
    private static func word(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        guard !isPlain else { return value }
        return "\"\(harmless(value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")))\""
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}

extension Logger.MetadataValue {
    fileprivate var json: JSON {
        switch self {
        case .string(let text): .string(text)
        case .stringConvertible(let value): .string(value.description)
        case .array(let values): .array(values.map(\.json))
        case .dictionary(let values):
            .object(
                JSONObject(members: values.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value.json) }))
        }
    }
}
