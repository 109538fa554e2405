internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension Request {
    /// What an answer of so many bytes is to be compressed with: it is large enough, and the client asks for that. nil: it is to
    /// stay as it is.
    /// - Parameter count: asked for only where the client asks for a coding
    func coding(ofBytes count: @autoclosure () -> Int) -> ContentCoding? {
        guard let header = headers.value(of: .acceptEncoding), count() >= Answer.leastBytesToCompress else { return nil }
        return AcceptedCodings(header).preferred
    }
}

extension Answer {
    /// A smaller answer fits into the packet that its headers need anyway, so that nothing would come sooner.
    static let leastBytesToCompress = 1_024

    /// Puts it into the coding that the client asks for; then its entity tag names that representation.
    mutating func code(for request: Request) {
        if status == .notModified { return nameWhatIsHeld(by: request) }
        guard body.readableBytes >= Self.leastBytesToCompress else { return }
        headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard let coding = request.coding(ofBytes: body.readableBytes), let compressed = coding.compress(body),
            compressed.readableBytes < body.readableBytes
        else { return }
        headers.append(HTTPField(name: .contentEncoding, value: coding.rawValue))
        body = compressed
        if let tag = headers[.eTag].flatMap(EntityTag.init) {
            headers[.eTag] = EntityTag(version: tag.version, coding: coding).description
        }
    }

    /// What the client holds may have been large. Its tag is said to be the one that the client knows it by: a cache finds by it
    /// which of its representations is meant. Source: RFC 9110, section 15.4.5; RFC 9111, section 4.3.4.
    private mutating func nameWhatIsHeld(by request: Request) {
        headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        let known = request.tagsNotToMatch
        if let tag = headers[.eTag].flatMap(EntityTag.init), !known.contains(tag),
            let held = known.first(where: { $0.version == tag.version })
        {
            headers[.eTag] = held.description
        }
    }
}
