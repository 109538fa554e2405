public import EventStore
internal import Foundation
internal import SpatialIndex
internal import Synchronization

/// Finishes searches of the index that are too long for an event loop.
///
/// A search takes turns with the others, one part at a time. So a short one does not wait for a long one to end, and at most half of
/// the processors search. The other processors serve the event loops and the tasks of other requests.
package final class LongSearches: Sendable {
    /// Number of visits of one part. They take about 0.1 ms (decision 68).
    package static let visitsOfPart = 250
    /// Maximum number of searches under way. Each keeps a snapshot of the index.
    static let limit = 64

    private let lanes: [SearchLane]
    private let underWay = Atomic(0)
    private let number = Atomic(0)

    init(lanes: Int = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)) {
        self.lanes = (0..<lanes).map { _ in SearchLane() }
    }

    /// Carries a search out to its end.
    /// - Throws: ``SearchesBusyError``, `CancellationError`
    func finish<Search: PointSearch>(_ search: Search) async throws -> Search.Result {
        var search = search
        if let result = search.part(visits: Self.visitsOfPart) { return result }
        defer { underWay.subtract(1, ordering: .relaxed) }
        guard underWay.add(1, ordering: .relaxed).newValue <= Self.limit else { throw SearchesBusyError() }
        let lane = lanes[number.add(1, ordering: .relaxed).oldValue % lanes.count]
        while true {
            if let result = await lane.advance(&search) { return result }
            try Task.checkCancellation()
            // Other tasks of the pool have their turn.
            await Task.yield()
        }
    }
}

/// Lets one search at a time advance by a part.
private actor SearchLane {
    func advance<Search: PointSearch>(_ search: inout Search) -> Search.Result? {
        search.part(visits: LongSearches.visitsOfPart)
    }
}

extension PointSearch {
    /// The result of a search that takes one part only.
    func firstPart() -> Result? {
        var search = self
        return search.part(visits: LongSearches.visitsOfPart)
    }
}

/// Too many long searches are under way. The same request may succeed later.
public struct SearchesBusyError: UnavailabilityError, Hashable, CustomStringConvertible {
    public var description: String { "\(LongSearches.limit) long searches are under way" }
}
