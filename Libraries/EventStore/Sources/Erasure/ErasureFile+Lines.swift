internal import Encoding
internal import Foundation

extension ErasureFile {
    /// One line.
    struct Entry: Sendable, Hashable {
        /// Maximum length of a line, in bytes.
        static let lineLimit = 1_024

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
        /// The place of the erasure in the log. A file has all erasures up to its last line. `nil` in a line of an earlier program.
        var cursor: LogCursor?
    }
}

extension ErasureFile.Entry {
    /// - Returns: `nil` for bytes that no append has finished
    init?(_ line: some Collection<UInt8>) {
        guard line.count <= Self.lineLimit, let json = try? JSON(utf8: line), let log = json.id("log"),
            let created = json.id("created"), let erased = json.id("erased"),
            let person = json["person"]?.storedString.map({ StreamName($0) }), person.keyAsID != nil,
            let at = json["at"]?.storedTimestamp
        else { return nil }
        let cursor = json["cursor"]?.storedString.flatMap { LogCursor($0) }
        self.init(log: log, person: person, created: created, erased: erased, at: at, cursor: cursor)
    }

    /// With its line feed.
    var line: String {
        let json: JSON = [
            "log": .string(log.text), "person": .string(person.description), "created": .string(created.text),
            "erased": .string(erased.text), "at": .string(at.description), "cursor": JSON(cursor?.description),
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
