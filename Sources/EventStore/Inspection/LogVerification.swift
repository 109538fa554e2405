internal import Postgres

/// The result of reading the whole log as this program reads it. Operators verify a log before they trust a program with it.
///
/// It lists all violations, not only the first one, and a violation does not end the verification.
public struct LogVerification: Sendable {
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// Contiguous.
        case positions
        /// Decoded by this program, with their metadata.
        case events
        /// As many rows in the table as its primary key leads to.
        case head
        /// Of every stream: contiguous from 1, in the order of positions.
        case versions
        case ids
        /// Every remembered command is answered by a recorded event.
        case commands
        /// No number that is in use can be handed out again.
        case sequences
    }

    public struct Kind: Sendable, Hashable {
        public var category: String
        public var type: String
        public var format: Int16
    }

    public struct Violation: Sendable, Hashable {
        public var check: Check
        /// Of the recorded events that it concerns, where they are of one.
        public var kind: Kind?
        /// Names streams and fields, never their values.
        public var reason: String
        public var count: Int64
        /// Nil where it concerns none.
        public var firstPosition: Int64?
    }

    /// Maximum number of different violations in the list; further ones are only counted.
    public static let violationLimit = 1_000

    /// How many recorded events there are of each kind.
    public private(set) var counts: [Kind: Int64] = [:]
    /// How many violations are not among ``violations``.
    public private(set) var omittedViolations: Int64 = 0
    /// The position behind which was read; 0: from the start.
    public let start: Int64
    /// The last position when the verification began. Later recorded events are not verified.
    public let head: Int64

    /// Of all modules.
    let domainEvents: [any DomainEvent.Type]

    private var found: [ViolationKey: Violation] = [:]

    private struct ViolationKey: Sendable, Hashable {
        var check: Check
        var kind: Kind?
        var reason: String
    }

    /// How many recorded events were read.
    public var total: Int64 { counts.values.reduce(unreadable, +) }

    /// How many rows hold what no recorded event can, so that their kind is not known.
    private var unreadable: Int64 = 0

    /// In the order of the checks, and then of their first positions.
    public var violations: [Violation] {
        Check.allCases.flatMap { check in
            found.values.filter { $0.check == check }.sorted {
                ($0.firstPosition ?? 0, $0.reason) < ($1.firstPosition ?? 0, $1.reason)
            }
        }
    }

    /// Decodes every recorded event behind a position, up to where the log ends now.
    /// - Parameters:
    ///   - domainEvents: of all modules
    ///   - newest: how many of the last positions to read; nil: all
    /// - Throws: `PostgresError`
    public init(
        of reader: LogReader, decodedBy domainEvents: [any DomainEvent.Type], newest: Int64? = nil,
        progress: (_ position: Int64) -> Void = { _ in }
    ) async throws {
        self.domainEvents = domainEvents
        let readers = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
        let head = try await reader.tail()
        self.head = head
        start = newest.map { max(0, head - $0) } ?? 0
        var previous = start
        var page = try await reader.page(after: previous)
        while previous < head, let last = page.last?.position {
            async let following = reader.page(after: last)
            for (position, recorded) in page where position <= head {
                note(position, after: previous)
                switch recorded {
                case .success(let recorded): note(recorded, decodedBy: readers[recorded.envelope.stream.category])
                case .failure(let error):
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
        let key = ViolationKey(check: check, kind: kind, reason: reason)
        if found[key] == nil, found.count >= Self.violationLimit { return omittedViolations += count }
        found[key, default: Violation(check: check, kind: kind, reason: reason, count: 0, firstPosition: position)].count += count
    }

    /// Counts violations that a query did not return because of its limit.
    mutating func omit(_ count: Int64) { omittedViolations += max(0, count) }
}

extension LogReader {
    /// The next recorded events, whatever is missing between them.
    fileprivate func page(
        after position: Int64
    ) async throws -> [(position: Int64, recorded: Result<RecordedEvent, FormatError>)] {
        try await client.query(Self.query(after: position, limit: Self.replayPage)).map { row in
            let position: Int64 = try row.decode(Int64.self)
            do { return (position, .success(try RecordedEvent(row))) } catch let error as FormatError {
                return (position, .failure(error))
            }
        }
    }
}
