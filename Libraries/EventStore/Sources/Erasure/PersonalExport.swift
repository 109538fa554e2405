public import Encoding
internal import Foundation
public import Postgres

/// Everything that the log has of a person, as one JSON object that a person can read, with one recorded event on a line.
///
/// It is made of pages. So neither the memory nor a query grows with what the person owns, but for the names of the streams. No connection
/// is held between two pages. Changes meanwhile may be in it or not.
public struct PersonalExport: Sendable {
    var parts: [PersonalStreams]
    private let database: PostgresClient
    /// Maximum number of rows of one query.
    var pageLimit = 500

    /// - Parameter modules: all modules of the process
    public init(of modules: [StoredModule], from database: PostgresClient) {
        (parts, self.database) = (modules.personalStreams, database)
    }

    public init(_ composition: Composition) { self.init(of: composition.modules, from: composition.database) }

    /// - Parameters:
    ///   - streams: as ``streams(of:)`` found them
    ///   - time: of the export
    ///   - write: gets the next lines of the JSON text, without their ends. The export goes on when it returns
    /// - Throws: `PostgresError`, `FormatError`, and the errors of `write`
    public func write(_ streams: [StreamName], at time: Timestamp, to write: ([String]) async throws -> Void) async throws {
        let person = streams[0]
        var list = ListLines()
        try await write([#"{"\#(person.category)":\#(person.key),"exported_at":"\#(time)","recorded_events":["#])
        for stream in streams {
            var version: Int32 = 0
            while true {
                let page = try await LogReader(client: database).read(stream: stream, after: version, limit: Int64(pageLimit))
                try await write(list.next(try page.map(Self.json)))
                guard page.count == pageLimit, let last = page.last else { break }
                version = last.envelope.version
            }
        }
        try await write(list.end() + [#"],"idempotency_keys":["#])
        var last = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        while true {
            let page = try await database.query(
                """
                SELECT coalesce(c.id, e.id) AS id, coalesce(c.stream, e.stream), coalesce(c.version, e.version),
                    encode(c.request_hash, 'hex')
                FROM log.commands AS c LEFT JOIN log.recorded_events AS e ON e.position = c.position
                WHERE c.owner = \(person.description) AND coalesce(c.id, e.id) > \(last) ORDER BY 1 LIMIT \(Int64(pageLimit))
                """
            ).decode((UUID, String, Int32, String).self)
            let keys: [JSON] = page.map { _, stream, version, hash in
                ["stream": .string(stream), "version": JSON(Int64(version)), "request_sha256": .string(hash)]
            }
            try await write(list.next(keys))
            guard page.count == pageLimit, let end = page.last else { break }
            last = end.0
        }
        try await write(list.end() + [#"],"parked_streams":["#])
        for start in stride(from: 0, to: streams.count, by: pageLimit) {
            let names = streams[start..<min(start + pageLimit, streams.count)].map(\.description)
            let parked = try await database.query(
                """
                SELECT subscription, stream, version, position, reason FROM log.parked_streams WHERE stream = ANY(\(names))
                ORDER BY position
                """
            ).decode((String, String, Int32, Int64, String).self)
            let rows: [JSON] = parked.map { subscription, stream, version, position, reason in
                [
                    "subscription": .string(subscription), "stream": .string(stream), "version": JSON(Int64(version)),
                    "position": JSON(position), "reason": .string(reason),
                ]
            }
            try await write(list.next(rows))
        }
        try await write(list.end() + ["]}"])
    }

    /// The person's own stream, and those that the modules find.
    /// - Throws: ``UnknownPersonError``, `ReadModelError.behind`, `PostgresError`, `FormatError`
    public func streams(of person: StreamName) async throws -> [StreamName] {
        guard let id = person.keyAsID, try await LogReader(client: database).newest(of: person) != nil else {
            throw UnknownPersonError()
        }
        var streams = [person]
        for part in parts where part.category == person.category {
            for stream in try await part.find(id, database).map(\.name) where stream != person { streams.append(stream) }
        }
        return streams
    }

    private static func json(_ recorded: RecordedEvent) throws -> JSON {
        let envelope = recorded.envelope
        let metadata = try envelope.metadata.values()
        let data = Redaction(of: [], isRevealed: true).shown(envelope.event, category: envelope.stream.category)
        return [
            "position": JSON(recorded.position), "stream": .string(envelope.stream.description),
            "version": JSON(Int64(envelope.version)), "type": .string(envelope.event.type),
            "recorded_at": .string(envelope.recordedAt.description), "request_id": .string(metadata.requestID),
            "trace_id": JSON(metadata.traceID), "data": data,
        ]
    }

    /// The elements of a list, each on a line of its own, with a comma behind each but the last one.
    private struct ListLines {
        private var last: String?

        /// Holds the last element back, until it is known whether another one follows.
        mutating func next(_ elements: [JSON]) -> [String] {
            let lines = (last.map { [$0] } ?? []) + elements.map(\.text)
            last = lines.last
            return lines.dropLast().map { $0 + "," }
        }

        mutating func end() -> [String] {
            defer { last = nil }
            return last.map { [$0] } ?? []
        }
    }
}
