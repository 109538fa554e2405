public import Encoding
public import HTTPTypes
public import NIOCore

/// A whole request: its head and its body.
public struct Request: Sendable {
    public var head: HTTPRequest
    public var body: ByteBuffer

    public init(head: HTTPRequest, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = body
    }

    public var method: HTTPRequest.Method { head.method }
    public var headers: HTTPFields { head.headerFields }

    /// Path and query as the client sent them.
    public var target: String { head.path ?? "/" }

    /// The path. The router decodes the escapes of unreserved characters in it, and no others.
    public var path: Substring {
        let target = target
        return target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
    }

    /// The text between `?` and `#`, not decoded. `nil` if the target has no query.
    public var query: Substring? {
        let target = target
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let rest = target[target.index(after: mark)...]
        return rest[..<(rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)]
    }

    /// Reads the fields in the query.
    /// - Throws: 400
    public func queryFields() throws(HTTPError) -> JSON {
        do { return try JSON(query: (query ?? "").utf8) } catch {
            throw .badRequest("The query is not readable: \(error)", code: .malformedQuery)
        }
    }

    /// Decodes the escapes of unreserved characters in the path, which mean the characters. Source: RFC 3986, section 6.2.2.2.
    mutating func normalizePath() {
        let percent = UInt8(ascii: "%")
        guard path.utf8.contains(percent) else { return }
        let bytes = Array(path.utf8)
        var normal: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == percent, let byte = Self.unreserved(bytes[(index + 1)...].prefix(2)) {
                normal.append(byte)
                index += 3
            } else {
                normal.append(bytes[index])
                index += 1
            }
        }
        head.path = String(decoding: normal, as: UTF8.self) + String(Substring(target.utf8.dropFirst(bytes.count)))
    }

    /// The unreserved character with these two hexadecimal digits.
    private static func unreserved(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == 2 else { return nil }
        let byte = UInt8(16 * values[0] + values[1])
        return byte.isUnreserved ? byte : nil
    }

    /// Whether `If-None-Match` says that the client holds a representation with this tag.
    public func matchesIfNoneMatch(_ tag: EntityTag) -> Bool {
        guard let header = headers.value(of: .ifNoneMatch) else { return false }
        return header[...].trimmingSpaces == "*" || ifNoneMatchTags.contains(where: tag.isNamed)
    }

    /// The tags in `If-None-Match` that a response may confirm. For GET and HEAD, a tag of a compressed representation counts
    /// only if the client accepts that coding now. Otherwise a 304 would confirm bytes that the client cannot decode.
    public var ifNoneMatchTags: [EntityTag] {
        guard let header = headers.value(of: .ifNoneMatch) else { return [] }
        let tags = EntityTag.list(header, isWeak: true)
        guard method == .get || method == .head, tags.contains(where: { $0.coding != nil }) else { return tags }
        let accepted = AcceptedWeights(headers.value(of: .acceptEncoding))
        return tags.filter { $0.coding.map(accepted.accepts) ?? true }
    }

    /// The language that the client prefers, by its `Accept-Language`.
    /// - Parameter languages: the languages of the resource, in lower case
    /// - Returns: `nil` if the client asks for none of them
    public func preferredLanguage(of languages: [String]) -> String? {
        headers.value(of: .acceptLanguage).flatMap { AcceptedWeights($0).preferredLanguage(of: languages) }
    }
}

extension UInt8 {
    /// A letter or a digit of ASCII, or one of four marks. Source: RFC 3986, section 2.3.
    var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }
}
