internal import Encoding
internal import SpatialIndex

/// What a comparison keeps of an index: a version and a digest of each event, 20 bytes together.
///
/// The comparison keeps no snapshot while PostgreSQL sends rows. A snapshot would hold all blocks that changes replace meanwhile, about
/// 30 KB a change: at 1,000 writes a second 1 GB in 30 seconds.
struct IndexDigest: Sendable {
    /// Number of events after which other tasks have their turn. They take about 0.5 ms.
    private static let eventsAtOnce = 1_000
    /// A search looks for one of this number of events, within this radius in kilometres.
    private static let (searched, searchRadius) = (Int64(16), 0.001)

    let position: Int64
    /// The ids of the events, in order.
    private var ids: [Int64] = []
    private var versions: [Int32] = []
    private var digests: [Int] = []
    /// Events that a search by their words does not find at their places.
    private(set) var misplaced: Set<EventID> = []

    /// - Throws: `CancellationError`
    init(of snapshot: EventIndex.Snapshot) async throws {
        position = snapshot.position
        ids.reserveCapacity(snapshot.count)
        versions.reserveCapacity(snapshot.count)
        digests.reserveCapacity(snapshot.count)
        let offset = Int64.random(in: 0..<Self.searched)
        while true {
            let entries = snapshot.entries(after: ids.last, limit: Self.eventsAtOnce)
            guard !entries.isEmpty else { break }
            for entry in entries {
                ids.append(entry.id)
                versions.append(entry.version)
                digests.append(Self.digest(of: HeldEvent(entry)))
                if entry.id % Self.searched == offset, !Self.isFound(entry, in: snapshot) {
                    misplaced.insert(EventID(rawValue: entry.id))
                }
            }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    var count: Int { ids.count }

    /// Where the digest has an event, for the subscript; `nil` if the index does not hold the event.
    func offset(of id: EventID) -> Int? {
        let offset = ids.partitioningIndex { $0 >= id.rawValue }
        return offset < ids.count && ids[offset] == id.rawValue ? offset : nil
    }

    subscript(offset: Int) -> (id: EventID, version: Int32, digest: Int) {
        (EventID(rawValue: ids[offset]), versions[offset], digests[offset])
    }

    /// The digest differs from process to process.
    static func digest(of event: HeldEvent) -> Int {
        var hasher = Hasher()
        hasher.combine(event.owner)
        hasher.combine(event.place)
        hasher.combine(event.note)
        event.json.withRawSpan { hasher.combine($0) }
        event.words.withRawSpan { hasher.combine($0) }
        return hasher.finalize()
    }

    private static func isFound(_ entry: EventIndex.Entry, in snapshot: EventIndex.Snapshot) -> Bool {
        var request = NearestRequest(centre: entry.place.coordinates, radius: searchRadius)
        // As many words as a client may ask for. The category is the last one.
        let space = UInt8(ascii: " ")
        let words = entry.words.split(separator: space).suffix(FoldedWords.maximumWords)
        request.filter.beginnings = words.flatMap { [space] + $0 }
        // In a crowd the event may be on a later page.
        guard let found = snapshot.search(request).firstPart(), found.next == nil else { return true }
        return (0..<found.count).contains { found[$0].id == entry.id }
    }
}
