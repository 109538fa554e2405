/// What came of reading the whole log as this program reads it: to be known before the program is trusted with it.
public struct LogExamination: Sendable, Hashable {
    public struct Kind: Sendable, Hashable {
        public var category: String
        public var type: String
        public var format: Int16
    }

    public struct Fault: Sendable, Hashable {
        public var kind: Kind
        /// Names the field, never its value.
        public var reason: String
        public var count: Int64
        public var firstPosition: Int64
    }

    /// How many recorded events there are of each kind.
    public private(set) var counts: [Kind: Int64] = [:]
    /// In the order of their first positions.
    public var faults: [Fault] { found.values.sorted { $0.firstPosition < $1.firstPosition } }
    /// How many recorded events were read.
    public var total: Int64 { counts.values.reduce(0, +) }

    private struct FaultKey: Sendable, Hashable {
        var kind: Kind
        var reason: String
    }

    private var found: [FaultKey: Fault] = [:]

    /// Decodes every recorded event.
    /// - Parameter domainEvents: of all modules
    /// - Throws: ``HoleInLog``, `PostgresError`
    public init(
        of reader: LogReader, decodedBy domainEvents: [any DomainEvent.Type],
        progress: (_ position: Int64) -> Void = { _ in }
    ) async throws {
        let readers = Dictionary(uniqueKeysWithValues: domainEvents.map { ($0.category, $0) })
        try await reader.replay { page in
            for recorded in page { note(recorded, decodedBy: readers[recorded.occurrence.stream.category]) }
            progress(page.last?.position ?? 0)
        }
    }

    private mutating func note(_ recorded: RecordedEvent, decodedBy domainEvent: (any DomainEvent.Type)?) {
        let stored = recorded.occurrence.event
        let kind = Kind(category: recorded.occurrence.stream.category, type: stored.type, format: stored.format)
        counts[kind, default: 0] += 1
        do {
            guard let domainEvent else { throw FormatError("no module has streams of category \(kind.category)") }
            _ = try domainEvent.decode(type: stored.type, format: stored.format, data: stored.data)
            _ = try recorded.occurrence.metadata.values()
        } catch {
            let key = FaultKey(kind: kind, reason: "\(error)")
            found[key, default: Fault(kind: kind, reason: key.reason, count: 0, firstPosition: recorded.position)].count += 1
        }
    }
}
