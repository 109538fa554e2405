internal import Events
internal import HTTPTypes
internal import Hummingbird

/// `Humon-Position`: how far the log is that an answer tells of.
extension Request {
    /// What is read must be no older than that: a client sends what the answer to its write said.
    /// - Throws: ``Refusal/badRequest(_:)``
    func position() throws(Refusal) -> Int64? {
        guard let text = headers[.humonPosition] else { return nil }
        guard let position = Int64(text), position >= 0 else { throw .badRequest("Humon-Position is not a position") }
        return position
    }
}

extension Response {
    /// The answer to a write, which is there from that position on.
    func recorded(at position: Int64) -> Response {
        var response = self
        response.headers[.humonPosition] = String(position)
        return response
    }

    /// The answer to a read: from memory it says of which position it is and, where that may not be the newest, how old. Source
    /// of `Age`: RFC 9111, section 5.1.
    func read(from reading: EventsReading) -> Response {
        guard let position = reading.position else { return self }
        var response = recorded(at: position)
        if let seconds = reading.staleFor?.components.seconds { response.headers[.age] = String(seconds) }
        return response
    }
}
