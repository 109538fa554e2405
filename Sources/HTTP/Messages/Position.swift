internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes

/// `Humon-Position`: how far the log is that an answer tells of.
extension Request {
    /// What is read must be no older than that: a client sends what the answer to its write said.
    /// - Throws: ``HTTPError/badRequest(_:)``
    func position() throws(HTTPError) -> Int64? {
        guard let text = headers.value(of: .humonPosition) else { return nil }
        guard let position = Int64(text), position >= 0 else { throw .badRequest("Humon-Position is not a position") }
        return position
    }
}

extension Response {
    /// To a write, which is there from that position on.
    init(json: JSON, recordedAt position: Int64, _ allowance: RateAllowance?) {
        self.init(json: json)
        headers.append(HTTPField(name: .humonPosition, value: String(position)))
        addRateLimitHeaders(allowance)
    }

    /// To a read: from the index it says of which position it is and, where that may not be the newest, how old. Source of `Age`:
    /// RFC 9111, section 5.1.
    mutating func addAgeHeader(of reading: EventsView) {
        guard let position = reading.position else { return }
        headers.append(HTTPField(name: .humonPosition, value: String(position)))
        if let seconds = reading.staleFor?.components.seconds { headers[.age] = String(seconds) }
    }
}
