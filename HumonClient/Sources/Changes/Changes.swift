/// The events of a region and every change to them, once and in order, until the task is cancelled or leaves the loop.
///
/// ```swift
/// for try await change in humon.changes(in: region) {
///     shown.apply(change)
///     show(shown)
/// }
/// ```
///
/// The sequence connects again after each lost connection and continues where it stopped, at any server. It buffers at most 1 MiB:
/// after a longer pause of the reader it connects again too. Each iterator has a connection of its own.
public struct Changes: AsyncSequence, Sendable {
    public typealias Element = Change

    let api: HumonAPI
    let region: Region
    let window: TimeWindow
    let words: String?
    let category: String?
    let position: Position?

    public func makeAsyncIterator() -> Iterator { Iterator(follower: ChangeFollower(self)) }

    /// Ends its connection when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        let follower: ChangeFollower

        /// Waits for the next change. It never returns `nil`.
        /// - Throws: ``HumonError`` if the server refuses the request for good; `CancellationError`; an error of the token store
        public mutating func next() async throws -> Change? { try await follower.next() }
    }
}

extension HumonAPI {
    /// The events of a region and every change to them, as they happen.
    ///
    /// It begins with the list of the region and replaces it whenever the server cannot continue. A server without streams of
    /// changes gives the list again and again.
    /// - Parameters:
    ///   - window: only events that overlap it
    ///   - words: as in ``events(in:during:words:category:limit:after:)``
    ///   - category: only events of this kind
    ///   - position: ``Page/position`` of a list of the same region, window, words and category that the caller has, or the lowest of
    ///     several pages. Then only the changes since then come
    public func changes(
        in region: Region, during window: TimeWindow = .always, words: String? = nil, category: String? = nil,
        since position: Position? = nil
    ) -> Changes {
        Changes(api: self, region: region, window: window, words: words, category: category, position: position)
    }
}

/// What happened in a region, in order.
public enum Change: Sendable, Hashable {
    /// All events of the region, which replace what the app shows. A sequence begins with a list, and has another one when the
    /// server cannot continue, for example after a long pause. A new iterator sends no ``resumed``, so a list also ends an interruption
    /// that an earlier iterator reported.
    case list([Event])
    /// The region shows this event from now on, or shows it with these values.
    case put(Event)
    /// The region shows this event no longer: it moved away, was cancelled or hidden, or has other words. The app may not have
    /// had it.
    case gone(Event.ID)
    /// The connection is lost, and an attempt to connect again failed. The app keeps its events. The client goes on trying.
    case interrupted(HumonError)
    /// The connection is back. A list follows at once, or all changes since the interruption.
    case resumed
}
