/// A search of a snapshot that is carried out in parts, so that a long search does not keep its thread.
///
/// The parts together find what one part would find, because a snapshot never changes.
public protocol PointSearch: Sendable {
    associatedtype Result: Sendable

    /// Continues the search.
    /// - Parameter visits: the work of this part, as a number of leaves; at least 1. The last step may exceed it by one node
    /// - Returns: the result when the search is over; then the search must not continue. `nil` before
    mutating func part(visits: Int) -> Result?
}

extension PointSearch {
    /// Number of visits of a part, where nothing waits between the parts.
    private static var visitsOfPart: Int { 1_000 }

    /// Carries the search out to its end.
    public consuming func result() -> Result {
        while true { if let result = part(visits: Self.visitsOfPart) { return result } }
    }
}

/// The work that a part of a search may still do.
struct VisitBudget {
    /// To read a leaf takes about as long as to look at this number of children in their parent.
    private static let childrenPerLeaf = 16

    /// To look for a word in this number of bytes takes about as long as to look at a child.
    private static let bytesPerChild = 256

    private var children: Int

    init(visits: Int) { children = visits * Self.childrenPerLeaf }

    var isUsedUp: Bool { children <= 0 }

    mutating func read(leaves: Int) { children -= leaves * Self.childrenPerLeaf }

    mutating func searched(bytes: Int) { children -= bytes / Self.bytesPerChild }

    mutating func looked(atChildren count: Int) { children -= count }

    /// To keep a point, to select the first ones, or to count it in its cell, takes about half as long as to look at a child.
    mutating func took(points: Int) { children -= points / 2 }
}
