internal import HTTPTypes
internal import NIOCore

/// A response that never changes while the program runs: compressed once, instead of for every request.
public struct StaticResponse: Sendable {
    private let plain: Response
    private let compressed: [ContentCoding: Response]
    private let tag: EntityTag

    /// - Parameters:
    ///   - response: the plain response, with all fields of its own
    ///   - version: the version in its entity tag; it must change with the body
    public init(_ response: Response, version: Int64) {
        tag = EntityTag(version: version)
        var plain = response
        plain.headers[.eTag] = tag.description
        self.plain = plain
        compressed = ContentCoding.allCases.reduce(into: [:]) { compressed, coding in
            var response = plain
            response.compress(in: coding)
            if response.headers.contains(.contentEncoding) { compressed[coding] = response }
        }
    }

    /// The response in the coding that the client prefers, or 304 if the client has it.
    public func response(to request: Request) -> Response {
        guard !request.matchesIfNoneMatch(tag) else {
            var response = plain
            response.status = .notModified
            response.headers[.contentType] = nil
            response.body.clear()
            return response
        }
        return Compression.coding(for: request).flatMap { compressed[$0] } ?? plain
    }
}
