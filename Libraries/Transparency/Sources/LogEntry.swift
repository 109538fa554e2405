internal import Encoding
public import Foundation
public import Hashing

/// The entry of a tree over an event log: one line of JSON with the envelope of a recorded event, and digests of its content.
///
///     {"position":1,"id":"…","stream":"user-1","version":1,"type":"UserCreated","format":1,"recorded_at":"2026-11-25T00:18:02.123456Z",…}
///
/// The content itself is not in it. So the erasure of personal members changes no leaf: their digest stays.
public struct LogEntry: Sendable, Hashable {
    /// From 1.
    public var position: Int64
    public var id: UUID
    public var stream: String
    public var version: Int64
    public var type: String
    public var format: Int64
    /// Microseconds since 1970-01-01T00:00:00Z.
    public var recordedAt: Int64
    public var metadata: SHA256.Digest
    public var data: SHA256.Digest
    /// `nil` for a recorded event that never had personal members.
    public var personal: SHA256.Digest?

    public init(
        position: Int64, id: UUID, stream: String, version: Int64, type: String, format: Int64, recordedAt: Int64,
        metadata: SHA256.Digest, data: SHA256.Digest, personal: SHA256.Digest?
    ) {
        (self.position, self.id, self.stream, self.version) = (position, id, stream, version)
        (self.type, self.format, self.recordedAt) = (type, format, recordedAt)
        (self.metadata, self.data, self.personal) = (metadata, data, personal)
    }

    /// The place in the tree: a log begins at position 1, a tree at index 0.
    public var index: Int64 { position - 1 }

    /// The bytes of the line, always the same for the same entry, without a line feed.
    public var bytes: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        line.append("{\"position\":")
        position.writeJSON(into: &line)
        line.append(",\"id\":\"")
        Self.appendDigits(of: id.bytes, to: &line, dashesBefore: [4, 6, 8, 10])
        line.append("\",\"stream\":")
        stream.writeJSON(into: &line)
        line.append(",\"version\":")
        version.writeJSON(into: &line)
        line.append(",\"type\":")
        type.writeJSON(into: &line)
        line.append(",\"format\":")
        format.writeJSON(into: &line)
        line.append(",\"recorded_at\":\"")
        Self.appendTime(recordedAt, to: &line)
        line.append("\",\"metadata_sha256\":\"")
        Self.appendDigits(of: Array(metadata), to: &line)
        line.append("\",\"data_sha256\":\"")
        Self.appendDigits(of: Array(data), to: &line)
        line.append("\",\"personal_sha256\":")
        if let personal {
            line.append("\"")
            Self.appendDigits(of: Array(personal), to: &line)
            line.append("\"}")
        } else {
            line.append("null}")
        }
        return line
    }

    /// RFC 3339 in UTC with six decimals. Times outside of the years 0000 to 9999 are written as the nearest moment of these years.
    private static func appendTime(_ microseconds: Int64, to line: inout [UInt8]) {
        let (seconds, rest) = microseconds.floored(by: 1_000_000)
        let moment = Timestamp(milliseconds: seconds * 1_000)
        line.append(contentsOf: moment.description.utf8.prefix(20))
        let digits = String(rest)
        line.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 6 - digits.utf8.count))
        line.append(contentsOf: digits.utf8)
        line.append("Z")
    }

    private static func appendDigits(of bytes: [UInt8], to line: inout [UInt8], dashesBefore places: [Int] = []) {
        for (place, byte) in bytes.enumerated() {
            if places.contains(place) { line.append("-") }
            for half in [byte >> 4, byte & 0xF] {
                line.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10)
            }
        }
    }
}

extension LogEntry {
    /// Reads a line. `nil` unless the line is exactly as ``bytes`` writes it.
    public init?(_ line: [UInt8]) {
        guard let json = try? JSON(utf8: line), case .string(let id)? = json["id"], let id = UUID(uuidString: id),
            case .string(let stream)? = json["stream"], case .string(let type)? = json["type"],
            let position = Self.number(json["position"]), let version = Self.number(json["version"]),
            let format = Self.number(json["format"]), case .string(let time)? = json["recorded_at"],
            let recordedAt = Self.microseconds(time), let metadata = Self.digest(json["metadata_sha256"]),
            let data = Self.digest(json["data_sha256"])
        else { return nil }
        self.init(
            position: position, id: id, stream: stream, version: version, type: type, format: format, recordedAt: recordedAt,
            metadata: metadata, data: data, personal: Self.digest(json["personal_sha256"]))
        guard bytes == line else { return nil }
    }

    private static func number(_ json: JSON?) -> Int64? {
        guard case .number(let digits)? = json else { return nil }
        return Int64(digits)
    }

    private static func digest(_ json: JSON?) -> SHA256.Digest? {
        guard case .string(let text)? = json, text.isHexadecimal(digits: 64) else { return nil }
        let digits = Array(text)
        return SHA256.Digest((0..<32).compactMap { UInt8(String(digits[2 * $0..<2 * $0 + 2]), radix: 16) })
    }

    private static func microseconds(_ text: String) -> Int64? {
        guard text.utf8.count == 27, let moment = Timestamp(rfc3339: text),
            let rest = Int64(String(decoding: text.utf8.dropFirst(20).prefix(6), as: UTF8.self))
        else { return nil }
        return moment.milliseconds.floored(by: 1_000).quotient * 1_000_000 + rest
    }
}

extension Int64 {
    fileprivate func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
