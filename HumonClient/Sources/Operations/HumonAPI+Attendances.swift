extension HumonAPI {
    private struct Attendee: Decodable, Sendable { var user: User }

    /// Attends an event. A repetition changes nothing.
    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Throws: the code `eventCancelled` for a cancelled event
    public func attend(_ id: Event.ID, key: IdempotencyKey = IdempotencyKey()) async throws {
        _ = try await requester.send(.write("PUT", "/v1/events/\(id)/attendance", key: key))
    }

    /// Leaves an event. Coming back is allowed.
    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Throws: the code `eventCancelled` for a cancelled event
    public func leave(_ id: Event.ID, key: IdempotencyKey = IdempotencyKey()) async throws {
        _ = try await requester.send(.write("DELETE", "/v1/events/\(id)/attendance", key: key))
    }

    /// How many users attend an event, and whether this device's user does.
    /// - Throws: as ``HumonAPI`` says
    public func attendance(of id: Event.ID) async throws -> AttendanceSummary {
        try await requester.value(.get("/v1/events/\(id)/attendance"))
    }

    /// The users who attend an event of this device's user, in the order of their ids.
    /// - Parameters: see ``events(in:during:words:category:limit:after:)``
    /// - Throws: the code `forbidden` for another user's event
    public func attendees(of id: Event.ID, limit: Int = pageLimit, after cursor: Cursor? = nil) async throws -> Page<User> {
        let page: Page<Attendee> = try await page(
            .get("/v1/events/\(id)/attendances", by: .device), limit: limit, after: cursor)
        return Page(elements: page.elements.map(\.user), next: page.next, position: page.position)
    }
}
