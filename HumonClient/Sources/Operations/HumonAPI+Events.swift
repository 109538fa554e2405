public import Foundation

extension HumonAPI {
    private struct Reference: Decodable, Sendable { var id: Event.ID }

    /// Publishes an event of this device's user.
    /// - Parameter key: the intent; see ``IdempotencyKey``
    /// - Throws: the code `validationFailed` for unusable fields
    public func create(_ draft: EventDraft, key: IdempotencyKey = IdempotencyKey()) async throws -> Event.ID {
        let created: Reference = try await requester.value(.write("POST", "/v1/events", body: Request.encoded(draft), key: key))
        return created.id
    }

    /// An event, and its version for a conditional change.
    /// - Throws: the code `eventCancelled` for a cancelled event
    public func event(_ id: Event.ID) async throws -> Versioned<Event> {
        let response = try await requester.send(.get("/v1/events/\(id)"))
        guard let tag = response.head["etag"] else { throw HumonError.unusableResponse("the event has no version") }
        return Versioned(value: try Requester.decoded(Event.self, response.body), version: Version(rawValue: tag))
    }

    /// An event as iCalendar (RFC 5545), for a calendar program to import. It has the whole event.
    /// - Throws: the code `eventCancelled` for an event that was cancelled 30 days ago
    public func calendar(of id: Event.ID) async throws -> Data { try await requester.send(.get("/v1/events/\(id).ics")).body }

    /// The events of a region as iCalendar (RFC 5545), from 30 days ago to a year ahead: the next 400 and the last 100. A calendar program
    /// subscribes to the same address, and reads it again each hour.
    /// - Parameters:
    ///   - words: as in ``events(in:during:words:category:limit:after:)``
    ///   - category: only events of this kind
    /// - Throws: the code `validationFailed` for unusable words and an unknown category
    public func calendar(in region: Region, words: String? = nil, category: String? = nil) async throws -> Data {
        try await requester.send(.get("/v1/events.ics", region.query + TimeWindow.always.query(words, category))).body
    }

    /// Changes some fields of an event of this user.
    /// - Parameters:
    ///   - version: changes the event only if it has this version
    ///   - key: the intent; see ``IdempotencyKey``
    /// - Throws: the code `versionChanged` for another version
    public func change(
        _ id: Event.ID, _ patch: EventPatch, if version: Version? = nil, key: IdempotencyKey = IdempotencyKey()
    ) async throws {
        var request = Request.write("PATCH", "/v1/events/\(id)", body: try Request.encoded(patch), key: key, ifVersion: version)
        request.contentType = "application/merge-patch+json"
        _ = try await requester.send(request)
    }

    /// Replaces the fields of an event of this user. An absent address or end is cleared. An absent category, time zone, description or
    /// link stays as it is on the server: ``change(_:_:if:key:)`` clears it.
    /// - Parameters: see ``change(_:_:if:key:)``
    /// - Throws: the code `versionChanged` for another version
    public func replace(
        _ id: Event.ID, with draft: EventDraft, if version: Version? = nil, key: IdempotencyKey = IdempotencyKey()
    ) async throws {
        let body = try Request.encoded(draft)
        _ = try await requester.send(.write("PUT", "/v1/events/\(id)", body: body, key: key, ifVersion: version))
    }

    /// Cancels an event of this user, for ever. A repetition changes nothing.
    /// - Parameters: see ``change(_:_:if:key:)``
    /// - Throws: the code `versionChanged` for another version
    public func cancel(_ id: Event.ID, if version: Version? = nil, key: IdempotencyKey = IdempotencyKey()) async throws {
        _ = try await requester.send(.write("DELETE", "/v1/events/\(id)", key: key, ifVersion: version))
    }
}
