internal import HTTPTypes
internal import NIOCore

/// Compresses responses in the coding that the client prefers.
///
/// A response of at least ``minimumBytes`` gets `Vary: Accept-Encoding`, also if this client takes plain bytes. The entity tag of a
/// compressed response names the coding, so that a strong tag names one sequence of bytes.
public struct Compression: Middleware {
    /// A smaller response fits into the packet that its header fields need anyway.
    public static let minimumBytes = 1_024
    /// The largest body that is compressed on the event loop, which takes 0.2 to 0.4 ms at this size (decision 68).
    public static let eventLoopLimitBytes = 256 * 1024

    public init() {}

    public func finishNeedsTask(_ response: Response, for request: Request) -> Bool {
        response.body.readableBytes > Self.eventLoopLimitBytes && !response.headers.contains(.contentEncoding)
            && Self.coding(for: request) != nil
    }

    public func finish(_ response: inout Response, for request: Request, _ context: RequestContext) {
        response.compress(for: request)
    }

    static func coding(for request: Request) -> ContentCoding? {
        request.headers.value(of: .acceptEncoding).flatMap { AcceptedWeights($0).preferredCoding }
    }
}

extension Response {
    mutating func compress(for request: Request) {
        if status == .notModified { nameHeldRepresentation(for: request) } else { compress(in: Compression.coding(for: request)) }
    }

    /// Compresses the body if it is large enough and the client asks for it, and sets `Vary`, `Content-Encoding` and `ETag`. Keeps a
    /// body that has a coding, such as a ``StaticResponse``.
    /// - Parameter coding: `nil` if the client asks for none
    mutating func compress(in coding: @autoclosure () -> ContentCoding?) {
        guard body.readableBytes >= Compression.minimumBytes, !headers.contains(.contentEncoding) else { return }
        headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard let coding = coding(), let compressed = coding.compress(body),
            compressed.readableBytes < body.readableBytes
        else { return }
        headers.append(HTTPField(name: .contentEncoding, value: coding.rawValue))
        body = compressed
        if let tag = headers[.eTag].flatMap(EntityTag.init) {
            headers[.eTag] = EntityTag(version: tag.version, mark: tag.mark, coding: coding).description
        }
    }

    /// Gives a 304 the tag that the client sent: a cache finds the representation that it may reuse by that tag.
    /// Source: RFC 9110, section 15.4.5; RFC 9111, section 4.3.4.
    private mutating func nameHeldRepresentation(for request: Request) {
        headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard let tag = headers[.eTag].flatMap(EntityTag.init) else { return }
        let held = request.ifNoneMatchTags.filter(tag.isNamed)
        if let match = held.first(where: { $0 == tag }) ?? held.first(where: { $0.coding == nil }) ?? held.first {
            headers[.eTag] = match.description
        }
    }
}
