internal import Postgres

/// The result of reading the whole log as this program reads it. Operators verify a log before they trust a program with it.
///
/// It lists all violations, not only the first one, and a violation does not end the verification.
public struct LogVerification: Sendable {
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// Positions are contiguous.
        case positions
        /// This program can decode every recorded event and its metadata.
        case events
        /// The table has as many rows as its primary key finds.
        case head
        /// The versions of every stream are contiguous from 1, in the order of positions.
        case versions
        case ids
        /// Personal members stand apart from the facts, and are missing after an erasure only.
        case personal
        /// Every stored command has its recorded event.
        case commands
        /// No sequence can hand out a number that is in use.
        case sequences
    }

    public struct Kind: Sendable, Hashable {
        public var category: String
        public var type: String
        public var format: Int16
    }

    public struct Violation: Sendable, Hashable {
        public var check: Check
        /// The kind of the recorded events; nil if the violation does not concern one kind.
        public var kind: Kind?
        /// The reason names streams and fields, never their values.
        public var reason: String
        public var count: Int64
        /// The first position of the violation; nil if it concerns no position.
        public var firstPosition: Int64?
    }

    /// Maximum number of different violations in the list; further ones are only counted.
    public static let violationLimit = 1_000

    /// Number of recorded events of each kind.
    public private(set) var counts: [Kind: Int64] = [:]
    /// Number of violations that are not in ``violations``.
    public internal(set) var omittedViolations: Int64 = 0
    /// The verification reads the positions after this one; 0 means the start of the log.
    public let start: Int64
    /// The last position when the verification began. Later recorded events are not verified.
    public let head: Int64

    /// The domain events of all modules.
    let domainEvents: [any DomainEvent.Type]

    /// By the violation without its count and its position.
    private var found: [Violation: Violation] = [:]

    /// Number of recorded events that were read.
    public var total: Int64 { counts.values.reduce(unreadable, +) }

    /// Number of rows that are no valid recorded events, so that their kind is unknown.
    private var unreadable: Int64 = 0

    /// The violations in the order of the checks, and then of their first positions.
    public var violations: [Violation] {
        Check.allCases.flatMap { check in
            found.values.filter { $0.check == check }.sorted {
                ($0.firstPosition ?? 0, $0.reason) < ($1.firstPosition ?? 0, $1.reason)
            }
        }
    }

    /// Decodes every recorded event up to the present end of the log, or only the newest ones.
    /// - Parameters:
    ///   - domainEvents: the domain events of all modules
    ///   - newest: number of positions to read at the end of the log; nil reads all positions
    ///   - pageLimit: maximum number of recorded events in memory, twice
    /// - Throws: `PostgresError`
    public init(
        of reader: LogReader, decodedBy domainEvents: [any DomainEvent.Type], newest: Int64? = nil,
        pageLimit: Int64 = 2_000, progress: (_ position: Int64) -> Void = { _ in }
    ) async throws {
        self.domainEvents = domainEvents
        let readers = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
        let head = try await reader.tail()
        self.head = head
        start = newest.map { max(0, head - $0) } ?? 0
        var previous = start
        // Not a page of the reader, which ends at a missing position.
        var page = try await reader.client.query(LogReader.query(after: previous, limit: pageLimit))
        while previous < head, let last: Int64 = try page.last?.decode(Int64.self) {
            async let following = reader.client.query(LogReader.query(after: last, limit: pageLimit))
            for row in page {
                let position: Int64 = try row.decode(Int64.self)
                guard position <= head else { break }
                note(position, after: previous)
                do {
                    let recorded = try RecordedEvent(row)
                    note(recorded, decodedBy: readers[recorded.envelope.stream.category])
                } catch let error as FormatError {
                    unreadable += 1
                    note(.events, error.description, at: position)
                }
                previous = position
            }
            progress(previous)
            page = try await following
        }
    }

    private mutating func note(_ position: Int64, after previous: Int64) {
        guard position != previous + 1 else { return }
        note(.positions, disorder(of: position, after: previous), at: min(position, previous + 1))
    }

    private mutating func note(_ recorded: RecordedEvent, decodedBy domainEvent: (any DomainEvent.Type)?) {
        let stored = recorded.envelope.event
        let kind = Kind(category: recorded.envelope.stream.category, type: stored.type, format: stored.format)
        counts[kind, default: 0] += 1
        do {
            guard let domainEvent else { throw FormatError("no module has streams of category \(kind.category)") }
            guard try !stored.hasPersonalFacts(domainEvent.personal.names) else {
                let reason = "the personal members stand among the facts, where no erasure ends them"
                return note(.personal, reason, of: kind, at: recorded.position)
            }
            _ = try domainEvent.decode(stored, in: recorded.envelope.stream, version: recorded.envelope.version)
            _ = try recorded.envelope.metadata.values()
        } catch {
            note(.events, "\(error)", of: kind, at: recorded.position)
        }
    }

    private func disorder(of position: Int64, after previous: Int64) -> String {
        switch position {
        case ...previous: "position \(position) is taken twice"
        case previous + 2: "position \(previous + 1) is missing"
        case _: "positions \(previous + 1) to \(position - 1) are missing"
        }
    }

    mutating func note(_ check: Check, _ reason: String, of kind: Kind? = nil, count: Int64 = 1, at position: Int64? = nil) {
        let key = Violation(check: check, kind: kind, reason: reason, count: 0)
        if found[key] == nil, found.count >= Self.violationLimit { return omittedViolations += count }
        found[key, default: Violation(check: check, kind: kind, reason: reason, count: 0, firstPosition: position)].count += count
    }
}
