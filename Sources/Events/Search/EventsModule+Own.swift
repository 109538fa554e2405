public import Users

extension EventsModule {
    /// The largest number of events in one page of a user's own events, and the default.
    public static let ownEventsLimit = 1_000

    /// A page of the live events of one user, newest first: in the descending order of their ids. An event that the index gets meanwhile is
    /// left out.
    /// - Parameters:
    ///   - after: the last event of the page before, which need not be live any more
    ///   - position: the position of a write that the page must show; `nil` for none
    /// - Returns: the events, and the cursor of the next page; `nil` at the end
    /// - Throws: what ``view(atLeast:)`` throws
    public func ownEvents(
        of owner: UserID, after: EventID?, limit: Int, atLeast position: Int64? = nil
    ) async throws -> (events: [RenderedEvent], next: EventID?) {
        let view = try await view(atLeast: position)
        // One more than the limit shows that there is another page.
        guard let ids = index?.content.page(of: owner, before: after, limit: limit + 1) else { throw IndexNotInUseError() }
        let kept = ids.prefix(limit)
        return (kept.compactMap(view.event), ids.count > limit ? kept.last : nil)
    }
}
