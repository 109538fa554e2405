internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes

/// `Humon-Position`: the position of the log that a response shows.
extension Request {
    /// The position that the response must show at least; `nil` without the header. A client sends the position of its last write.
    /// - Throws: `HTTPError.badRequest(_:code:)`
    func position() throws(HTTPError) -> Int64? {
        guard let text = headers.value(of: .humonPosition) else { return nil }
        guard let position = Int64(text), position >= 0 else {
            throw .badRequest("Humon-Position is not a position", code: .malformedPosition)
        }
        return position
    }
}

extension Response {
    /// The response to a write that is recorded at this position.
    init(status: HTTPResponse.Status = .ok, json: JSON, recordedAt position: Int64) {
        self.init(status: status, json: json)
        headers.append(HTTPField(name: .humonPosition, value: String(position)))
    }

    /// Adds the position of a view of the index, and its age if the index may be stale. Source of `Age`: RFC 9111, section 5.1.
    mutating func addAgeHeader(of view: EventsView) {
        guard let position = view.position else { return }
        headers.append(HTTPField(name: .humonPosition, value: String(position)))
        if let seconds = view.staleFor?.components.seconds { headers[.age] = String(seconds) }
    }
}
