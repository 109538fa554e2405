internal import Encoding
internal import EventStore
internal import Events
internal import HTTPServer
internal import HTTPTypes
internal import Users

/// `Humon-Position`: the cursor of the log that a response shows.
extension Request {
    /// The cursor that the response must show at least; `nil` without the header. A client sends the one of its last write.
    /// - Throws: `HTTPError.badRequest(_:code:)`
    fileprivate func cursor() throws(HTTPError) -> LogCursor? { try cursor(in: .humonPosition, "Humon-Position") }

    /// The cursor in a header; `nil` without the header.
    /// - Throws: `HTTPError.badRequest(_:code:)`
    func cursor(in header: HTTPField.Name, _ name: String) throws(HTTPError) -> LogCursor? {
        guard let text = headers.value(of: header) else { return nil }
        guard let cursor = LogCursor(text) else { throw .badRequest("\(name) is not a position", code: .malformedPosition) }
        return cursor
    }
}

extension API {
    /// The position that the response must show at least; `nil` without the header.
    /// - Throws: `HTTPError.badRequest(_:code:)`, `PositionNotReachedError` for a position of another history, `PostgresError`
    func position(_ request: Request) async throws -> Int64? {
        guard let sent = try request.cursor() else { return nil }
        guard sent.mark != nil else { return sent.position }
        // The log has every marked position of its history, because a position leaves the process after the commit.
        guard try await users.mayHave(sent) else { throw PositionNotReachedError(position: sent.position) }
        return sent.position
    }

    /// A view of the index without a wait; `nil` if the request needs a task.
    /// - Throws: `HTTPError.badRequest(_:code:)`
    func indexView(for request: Request) throws(HTTPError) -> EventsView? {
        guard let sent = try request.cursor() else { return events.indexView() }
        guard sent.mark == nil || users.rememberedCursor(at: sent.position) == sent else { return nil }
        return events.indexView(atLeast: sent.position)
    }

    /// The response to a write that is recorded at this position.
    func response(_ json: JSON, status: HTTPResponse.Status = .ok, recordedAt position: Int64) async -> Response {
        var response = Response(status: status, json: json)
        // Without the field if the mark cannot be found now: the write is recorded.
        if let cursor = try? await users.cursor(at: position) { response.headers[.humonPosition] = "\(cursor)" }
        return response
    }
}

extension Response {
    /// Adds the cursor of a view of the index, and its age if the index may be stale. Source of `Age`: RFC 9111, section 5.1.
    mutating func addAgeHeader(of view: EventsView) {
        headers.append(HTTPField(name: .humonPosition, value: "\(view.end)"))
        if let seconds = view.staleFor?.components.seconds { headers[.age] = String(seconds) }
    }
}
