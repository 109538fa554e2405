internal import Encoding

/// A version of an event, as a client names it.
public struct EventVersion: Sendable, Hashable {
    public var number: Int32
    /// The mark of the event's JSON.
    ///
    /// After the log lost its end, the same number may belong to other content. The same number and mark belong to the same content,
    /// but for one in four billion.
    public var mark: UInt32

    public init(number: Int32, mark: UInt32) {
        self.number = number
        self.mark = mark
    }

    /// A hash of the event's JSON. It is equal on every machine, and another text practically always has another one.
    static func mark(of json: RawSpan) -> UInt32 {
        var hash = UInt64(json.byteCount)
        // Source: the finaliser of MurmurHash3, for eight bytes at a time. A client that finds two texts with one mark misleads
        // itself only: both are versions of its own event.
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 33
        }
        let words = json.byteCount / 8
        for word in 0..<words { add(UInt64(littleEndian: json.load(at: 8 * word))) }
        var last: UInt64 = 0
        for offset in (8 * words..<json.byteCount).reversed() { last = last << 8 | UInt64(json.load(UInt8.self, at: offset)) }
        add(last)
        add(0)
        return UInt32(truncatingIfNeeded: hash)
    }
}

/// The versions of an event for which a caller's request holds.
public struct VersionCondition: Sendable, Hashable {
    public enum Versions: Sendable, Hashable {
        case any
        case these(Set<EventVersion>)

        public func contains(_ version: EventVersion) -> Bool {
            switch self {
            case .any: true
            case .these(let versions): versions.contains(version)
            }
        }
    }

    public var matching: Versions
    public var notMatching: Versions

    public init(matching: Versions = .any, notMatching: Versions = .these([])) {
        self.matching = matching
        self.notMatching = notMatching
    }

    func holds(for version: EventVersion) -> Bool { matching.contains(version) && !notMatching.contains(version) }
}

extension Event {
    func version(_ mark: (Event) -> UInt32) -> EventVersion { EventVersion(number: version, mark: mark(self)) }
}
