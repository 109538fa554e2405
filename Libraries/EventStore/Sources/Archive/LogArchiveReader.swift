internal import Encoding
internal import Foundation
internal import Hashing

/// Reads an archive line by line and refuses the first that does not follow from those before. Pure but for its source.
///
/// What only the database can tell without keeping the whole log in memory is left to it: that ids and versions are unique, and
/// that versions are contiguous.
struct LogArchiveReader {
    enum Entry: Sendable, Hashable {
        /// A line for `COPY log.recorded_events`.
        case recordedEvent([UInt8])
        /// A line for `COPY log.commands`.
        case command([UInt8])
    }

    private enum Stage {
        case recordedEvents, commands, ended
    }

    private(set) var header: LogArchive.Header
    private let domainEvents: [String: any DomainEvent.Type]
    private var lines: ArchiveLineSplitter
    private var hash = SHA256()
    private var stage = Stage.recordedEvents
    /// How many were read.
    private(set) var recordedEvents: Int64 = 0
    private var commands: Int64 = 0
    private var lastCommand = ""
    /// The first entry of another kind, which the reader has read and not yet returned.
    private var waiting: Entry?

    /// - Parameter source: gives the next bytes, and nil at the end
    /// - Throws: ``LogArchiveError`` where the first line is not the header of an archive that this program reads
    init(decodedBy domainEvents: [any DomainEvent.Type], source: @escaping @Sendable () throws -> [UInt8]?) throws {
        self.domainEvents = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
        lines = ArchiveLineSplitter(source: source)
        guard let first = try lines.next() else { throw LogArchiveError("The file is empty") }
        hash.update(first)
        header = try faulting(line: 1) { try LogArchive.Header(try object(first)) }
    }

    /// As many recorded events as make a piece; nil behind the last of them.
    mutating func nextRecordedEvents() throws -> [UInt8]? {
        try nextPiece { if case .recordedEvent(let line) = $0 { line } else { nil } }
    }

    /// The same for commands; nil at the end of an archive that adds up.
    mutating func nextCommands() throws -> [UInt8]? {
        try nextPiece { if case .command(let line) = $0 { line } else { nil } }
    }

    private mutating func nextPiece(_ wanted: (Entry) -> [UInt8]?) throws -> [UInt8]? {
        var piece: [UInt8] = []
        while piece.count < LogArchive.pieceSize, let entry = try waiting ?? next() {
            guard let line = wanted(entry) else {
                waiting = entry
                break
            }
            waiting = nil
            piece += line
        }
        return piece.isEmpty ? nil : piece
    }

    /// Nil behind the last line.
    private mutating func next() throws -> Entry? {
        guard stage != .ended else { return nil }
        guard let bytes = try lines.next() else {
            throw LogArchiveError(line: lines.number + 1, "The file ends before its last line")
        }
        let line = try faulting(line: lines.number) { try object(bytes) }
        if line["sha256"] != nil {
            try end(line)
            return nil
        }
        hash.update(bytes)
        return try faulting(line: lines.number) {
            line["command"] == nil ? .recordedEvent(try recordedEvent(line)) : .command(try command(line))
        }
    }

    private mutating func recordedEvent(_ line: JSON) throws -> [UInt8] {
        let position: Int64 = try line.stored("position", \.storedInteger)
        guard stage == .recordedEvents, position == recordedEvents + 1 else {
            throw FormatError("position \(position) stands behind position \(recordedEvents)")
        }
        recordedEvents = position
        do { return try recordedEvent(line, at: position) } catch { throw FormatError("position \(position): \(error)") }
    }

    private func recordedEvent(_ line: JSON, at position: Int64) throws -> [UInt8] {
        let stream: String = try line.stored("stream", \.storedString)
        let type: String = try line.stored("type", \.storedString)
        let format: Int16 = try line.stored("format") { $0.storedInteger.flatMap { Int16(exactly: $0) } }
        let data: String = try line.stored("data", \.storedString)
        let metadata: String = try line.stored("metadata", \.storedString)
        let version: Int32 = try line.stored("version", \.storedVersion)
        let category = StreamName(stream).category
        guard let domainEvent = domainEvents[category] else {
            throw FormatError("no module has streams of category \(category)")
        }
        let (personal, digest) = try Self.personal(line)
        let stored = StoredEvent(
            type: type, format: format, facts: Array(data.utf8),
            personal: digest.map { _ in personal.map { .present(Array($0.utf8)) } ?? .erased })
        // An erasure would leave them.
        guard try !stored.hasPersonalFacts(domainEvent.personal.names) else {
            throw FormatError("personal members stand among the facts")
        }
        _ = try domainEvent.decode(stored, in: StreamName(stream), version: version)
        _ = try Metadata(stored: Array(metadata.utf8)).values()
        let recordedAt: String = try line.stored("recorded_at") { value in
            // PostgreSQL would take "now" for a time as well.
            value.storedTimestamp == nil ? nil : value.storedString
        }
        return copyLine([
            String(position), try line.stored("id", \.storedUUID), stream, String(version), type, String(format), recordedAt,
            data, metadata, personal, digest.map { #"\x"# + $0 },
        ])
    }

    /// The personal members of a line, and the hexadecimal digits of their digest.
    private static func personal(_ line: JSON) throws -> (text: String?, digest: String?) {
        let digest = try line.stored("personal_sha256") { value in
            value.storedOptional { $0.storedString.flatMap { $0.isHexadecimal(digits: 64) ? $0 : nil } }
        }
        let text = try line.stored("personal") { $0.storedOptional(\.storedString) }
        guard text == nil || text.map({ SHA256.hash($0.utf8).hexadecimal }) == digest else {
            throw FormatError("personal differs from personal_sha256")
        }
        return (text, digest)
    }

    private mutating func command(_ line: JSON) throws -> [UInt8] {
        stage = .commands
        let id = try line.stored("command", \.storedUUID)
        guard id > lastCommand else { throw FormatError("commands are not in the order of their ids") }
        (lastCommand, commands) = (id, commands + 1)
        let requestHash: String = try line.stored("request_hash") { value in
            value.storedString.flatMap { $0.isHexadecimal(digits: 64) ? $0 : nil }
        }
        return copyLine([
            id, #"\x"# + requestHash, try line.stored("stream", \.storedString),
            String(try line.stored("version", \.storedCommandVersion)), try line.stored("owner", \.storedString),
        ])
    }

    private mutating func end(_ line: JSON) throws {
        stage = .ended
        try faulting(line: lines.number) {
            let summary = try LogArchive.Summary(line)
            guard recordedEvents == header.lastPosition, commands == header.commands,
                summary.recordedEvents == recordedEvents, summary.commands == commands
            else {
                throw FormatError(
                    """
                    there are \(recordedEvents) recorded events and \(commands) commands; the first line says \
                    \(header.lastPosition) and \(header.commands), the last \(summary.recordedEvents) and \(summary.commands)
                    """
                )
            }
            guard summary.sha256 == hash.finalize().hexadecimal else {
                throw FormatError("the checksum is not that of the lines before: something in them was changed")
            }
        }
        guard try lines.next() == nil else { throw LogArchiveError(line: lines.number, "Something follows the last line") }
    }
}

/// Says where.
private func faulting<Value>(line: Int64, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as FormatError { throw LogArchiveError(line: line, error.description) }
}

private func object(_ bytes: [UInt8]) throws -> JSON {
    guard bytes.last == UInt8(ascii: "\n") else { throw FormatError("the line is cut off") }
    guard let json = try? JSON(utf8: bytes), case .object = json else { throw FormatError("this is no JSON object") }
    return json
}

/// A row in the text format of COPY; `nil` is NULL. Source: PostgreSQL, *COPY*, "Text Format".
private func copyLine(_ columns: [String?]) -> [UInt8] {
    var line: [UInt8] = []
    for (index, column) in columns.enumerated() {
        if index > 0 { line.append(UInt8(ascii: "\t")) }
        guard let column else {
            line += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
            continue
        }
        for byte in column.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): line += [byte, byte]
            case UInt8(ascii: "\n"): line += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case UInt8(ascii: "\r"): line += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case UInt8(ascii: "\t"): line += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
            case _: line.append(byte)
            }
        }
    }
    return line + [UInt8(ascii: "\n")]
}

extension JSON {
    /// As PostgreSQL writes it.
    fileprivate var storedUUID: String? {
        storedString.flatMap { text in UUID(uuidString: text)?.uuidString.lowercased() == text ? text : nil }
    }

    fileprivate var storedVersion: Int32? { storedCommandVersion.flatMap { $0 > 0 ? $0 : nil } }

    /// 0 answers a command that changed nothing in a stream that did not exist.
    fileprivate var storedCommandVersion: Int32? {
        storedInteger.flatMap { Int32(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
