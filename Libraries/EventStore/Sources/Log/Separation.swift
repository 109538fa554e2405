internal import Encoding
internal import Foundation
public import Postgres

/// Moves the personal members of recorded events that an earlier release stored among the facts. The database checks that each row loses
/// nothing, and this program checks that it reads the same domain event before and after.
///
/// It works in batches and goes on where it stopped. Readers go on meanwhile; a server of an earlier release must not run.
public struct Separation: Sendable {
    /// The number of positions of a batch, which is one transaction.
    private static let batch: Int64 = 2_000

    private let client: PostgresClient
    private let domainEvents: [String: any DomainEvent.Type]

    /// - Parameters:
    ///   - client: as the owner of the log
    ///   - domainEvents: the domain events of all modules
    public init(client: PostgresClient, domainEvents: [any DomainEvent.Type]) {
        self.client = client
        self.domainEvents = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
    }

    /// The name of the separation among the pending migrations.
    public static let name = "personal_members"

    /// Whether recorded events are left. The migrations must have been applied.
    /// - Throws: `PostgresError`
    public func isPending() async throws -> Bool {
        try await client.query("SELECT position < last_position FROM log.separation").decode(Bool.self) == [true]
    }

    /// Separates all recorded events that are left.
    /// - Parameter progress: the last position that is done, and the last one to do
    /// - Returns: the number of recorded events that were changed
    /// - Throws: ``FormatError`` with the position of a recorded event that this program cannot read; `PostgresError`
    public func run(progress: (_ position: Int64, _ of: Int64) -> Void = { _, _ in }) async throws -> Int {
        var changed = 0
        while let (count, position, last) = try await separateBatch() {
            changed += count
            progress(position, last)
        }
        return changed
    }

    /// - Returns: `nil` if nothing is left
    private func separateBatch() async throws -> (changed: Int, position: Int64, last: Int64)? {
        try await client.withTransaction { connection -> (changed: Int, position: Int64, last: Int64)? in
            // The lock of the row keeps a second migration out.
            let place = try await connection.query(
                "SELECT position, last_position FROM log.separation WHERE position < last_position FOR UPDATE"
            ).decode((Int64, Int64).self).first
            guard let (position, last) = place else { return nil }
            let end = min(position + Self.batch, last)
            let rows = try await connection.query(LogReader.query(after: position, through: end, filter: .everything))
            let separated = try rows.compactMap { try self.separated(try RecordedEvent($0)) }
            if !separated.isEmpty {
                let texts = separated.map(\.personal)
                try await connection.query(
                    """
                    SELECT log.separate(
                        \(separated.map(\.position)), \(separated.map(\.facts)), \(texts.map(\.text)),
                        \(texts.map { Bytea(bytes: Array($0.digest)) })
                    )
                    """)
            }
            try await connection.query("UPDATE log.separation SET position = \(end)")
            return (separated.count, end, last)
        }
    }

    /// - Returns: `nil` for a recorded event without personal members among its facts
    private func separated(_ recorded: RecordedEvent) throws -> (position: Int64, facts: String, personal: PersonalText)? {
        let (stored, stream) = (recorded.envelope.event, recorded.envelope.stream)
        guard stored.personal == nil, let domainEvent = domainEvents[stream.category] else { return nil }
        do {
            let content = try EventContent(stored, personalMembers: domainEvent.personalMembers)
            guard case .present(let members) = content.personal else { return nil }
            let personal = PersonalText(members)
            var after = stored
            (after.facts, after.personal) = (content.facts.utf8, .present(Array(personal.text.utf8)))
            guard try domainEvent.reads(stored, as: after) else {
                throw FormatError("\(stored.type) would be another domain event with its personal members apart")
            }
            return (recorded.position, content.facts.text, personal)
        } catch {
            throw FormatError("position \(recorded.position): \(error)")
        }
    }
}

extension DomainEvent {
    /// Whether two stored forms are one domain event.
    fileprivate static func reads(_ stored: StoredEvent, as other: StoredEvent) throws -> Bool {
        let (first, second) = (try decode(stored).stored, try decode(other).stored)
        return first.type == second.type && first.data == second.data
    }
}
