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
        let compressed = ContentCoding.allCases.compactMap { coding in plain.compressed(in: coding, version: version) }
        self.compressed = Dictionary(uniqueKeysWithValues: compressed)
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

extension Response {
    /// - Returns: `nil` if the body is so small that ``Compression`` does not compress it, or if its compressed form is not smaller
    fileprivate func compressed(in coding: ContentCoding, version: Int64) -> (ContentCoding, Response)? {
        guard body.readableBytes >= Compression.minimumBytes, let body = coding.compress(body),
            body.readableBytes < self.body.readableBytes
        else { return nil }
        var response = Response(status: status, headers: headers, body: body)
        response.headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        response.headers.append(HTTPField(name: .contentEncoding, value: coding.rawValue))
        response.headers[.eTag] = EntityTag(version: version, coding: coding).description
        return (coding, response)
    }
}
