internal import SpatialIndex
internal import Users

/// The ids of each user's events of one index, for lists, calendars and the quota: about 30 bytes an event.
///
/// 16 users with neighbouring numbers share an array. An array for each user would take 80 bytes for one event, and a larger dictionary
/// holds commits up for longer when it grows.
struct OwnedEvents: Sendable {
    /// The number of a user and that of an event.
    private typealias Entry = (Int64, Int64)

    /// Log₂ of the number of users of an array. A change moves the entries behind it: at most 2.5 MB if each user has 10,000 events.
    private static let bitsOfGroup: Int64 = 4

    /// Each array is ordered by user, then by event.
    private var groups: [Int64: [Entry]] = [:]

    /// Bytes of memory, by estimate: an array has its head, a place in the dictionary, and a third of its room spare.
    /// - Parameter count: the number of all events
    func bytes(of count: Int) -> Int { groups.count * 64 + count * 24 }

    /// The number of a user's events.
    func count(of owner: UserID) -> Int { entries(of: owner, before: .max).count }

    /// The last events of a user before an event, newest first.
    /// - Parameter event: need not be the user's; `nil` for all events
    func page(of owner: UserID, before event: EventID?, limit: Int) -> [EventID] {
        entries(of: owner, before: event?.rawValue ?? .max).suffix(limit).reversed().map { EventID(rawValue: $0.1) }
    }

    /// Applies changed events.
    /// - Parameter before: the index before the change
    mutating func apply(_ changed: [EventID: IndexChanges.Outcome], to before: EventIndex.Snapshot) {
        for (id, outcome) in changed {
            let old = before.event(id)?.owner
            let new = outcome.event?.owner
            guard old != new else { continue }
            if let old { change(id, of: old, isHeld: false) }
            if let new { change(id, of: new, isHeld: true) }
        }
    }

    /// Adds an event in any order, each event once. Call ``sort()`` before anything else.
    mutating func append(_ id: EventID, of owner: UserID) {
        groups[Self.group(of: owner), default: []].append((owner.rawValue, id.rawValue))
    }

    mutating func sort() {
        for number in Array(groups.keys) { groups[number]?.sort { $0 < $1 } }
    }

    mutating func change(_ id: EventID, of owner: UserID, isHeld: Bool) {
        let group = Self.group(of: owner)
        Self.change((owner.rawValue, id.rawValue), in: &groups[group, default: []], isHeld: isHeld)
        if groups[group]?.isEmpty == true { groups[group] = nil }
    }

    private static func change(_ entry: Entry, in group: inout [Entry], isHeld: Bool) {
        let index = index(of: entry, in: group)
        let isThere = index < group.count && group[index] == entry
        if isHeld, !isThere { group.insert(entry, at: index) }
        if !isHeld, isThere { group.remove(at: index) }
    }

    private func entries(of owner: UserID, before id: Int64) -> ArraySlice<Entry> {
        let group = groups[Self.group(of: owner)] ?? []
        return group[Self.index(of: (owner.rawValue, .min), in: group)..<Self.index(of: (owner.rawValue, id), in: group)]
    }

    /// The index of the first entry that does not come before this one.
    private static func index(of entry: Entry, in group: [Entry]) -> Int { group.partitioningIndex { $0 >= entry } }

    private static func group(of owner: UserID) -> Int64 { owner.rawValue >> bitsOfGroup }
}
