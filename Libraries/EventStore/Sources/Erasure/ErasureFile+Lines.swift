internal import Encoding
internal import Foundation

extension ErasureFile {
    /// One line.
    struct Entry: Sendable, Hashable {
        /// The id of the first recorded event of the log, which tells logs apart.
        var log: UUID
        /// The stream of the person, such as `user-7`.
        var person: StreamName
        /// The id of the first recorded event of that stream. After a restore another person may get the same number, and a person who
        /// signs up again with the same token or address gets the same id at a later time.
        var created: UUID
        /// The id of the domain event that erased the person.
        var erased: UUID
        var at: Timestamp
    }

    /// Bytes in, lines out.
    struct Lines {
        /// Maximum length of a line, in bytes.
        private static let limit = 1_024

        private(set) var unreadable = 0
        /// The bytes since the last line feed.
        private(set) var unfinishedBytes = 0
        private var entries: [Entry] = []
        private var line: [UInt8] = []

        mutating func add(_ byte: UInt8) {
            if byte == UInt8(ascii: "\n") { return end() }
            unfinishedBytes += 1
            // One byte more than fits shows that the line is too long.
            if line.count <= Self.limit { line.append(byte) }
        }

        /// Ends the line. The last one may lack its line feed.
        mutating func end() {
            defer {
                line.removeAll(keepingCapacity: true)
                unfinishedBytes = 0
            }
            guard !line.isEmpty else { return }
            if line.count <= Self.limit, let entry = Entry(line) { entries.append(entry) } else { unreadable += 1 }
        }

        /// The lines since the last call.
        mutating func take() -> [Entry] {
            defer { entries = [] }
            return entries
        }

        init() {}
    }
}

extension ErasureFile.Entry {
    /// - Returns: `nil` for bytes that no append has finished
    fileprivate init?(_ line: [UInt8]) {
        guard let json = try? JSON(utf8: line), let log = json.id("log"), let created = json.id("created"),
            let erased = json.id("erased"), let person = json["person"]?.storedString.map({ StreamName($0) }),
            person.keyAsID != nil, let at = json["at"]?.storedTimestamp
        else { return nil }
        self.init(log: log, person: person, created: created, erased: erased, at: at)
    }

    /// With its line feed.
    var line: String {
        let json: JSON = [
            "log": .string(log.text), "person": .string(person.description), "created": .string(created.text),
            "erased": .string(erased.text), "at": .string(at.description),
        ]
        return json.text + "\n"
    }
}

extension JSON {
    fileprivate func id(_ name: String) -> UUID? { self[name]?.storedString.flatMap { UUID(uuidString: $0) } }
}

extension UUID {
    fileprivate var text: String { uuidString.lowercased() }
}
