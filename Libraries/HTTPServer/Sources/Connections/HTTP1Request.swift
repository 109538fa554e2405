internal import HTTPTypes
internal import NIOHTTP1

/// The head of an HTTP/1.1 or HTTP/1.0 request, checked by the rules that NIO's decoder leaves to the server.
struct HTTP1Request {
    let request: HTTPRequest
    let isHTTP10: Bool
    /// Whether the connection ends with the response.
    let isLast: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// `Content-Length`; 0 if the client sent none.
    let announcedBytes: Int

    /// A head that breaks a rule, with the parts that are needed to refuse it.
    struct Refused: Error {
        let error: HTTPError
        let request: HTTPRequest?
    }

    /// - Throws: ``Refused``
    init(_ head: HTTPRequestHead) throws(Refused) {
        guard let method = HTTPRequest.Method(head.method) else { throw Refused(error: .notImplemented, request: nil) }
        let target = RequestTarget(head.uri)
        var fields = HTTP1Fields(head.headers)
        var request = HTTPRequest(
            method: method, scheme: Scheme.http.rawValue, authority: target.authority ?? fields.host, path: target.path)
        isHTTP10 = head.version.minor == 0
        swap(&request.headerFields, &fields.others)
        if let error = fields.violation(isHTTP10: isHTTP10) ?? target.violation(of: method) {
            throw Refused(error: error, request: request)
        }
        self.request = request
        isLast = !head.isKeepAlive || fields.hasUpgrade || method == .connect
        expectsContinue = fields.expectsContinue && !isHTTP10 && (fields.announcedBytes > 0 || fields.isChunked)
        announcedBytes = fields.announcedBytes
    }
}

extension HTTPRequest.Method {
    /// - Returns: `nil` for a method that is not a token
    fileprivate init?(_ method: HTTPMethod) {
        switch method {
        case .GET: self = .get
        case .POST: self = .post
        case _: self.init(method.rawValue)
        }
    }
}

/// The target of a request line. Source: RFC 9112, section 3.2.
private struct RequestTarget {
    /// The authority of a target in absolute form, which takes precedence over `Host`.
    var authority: String?
    var path: String

    init(_ uri: String) {
        path = uri
        guard uri.utf8.first != UInt8(ascii: "/"), let scheme = uri.firstRange(of: "://"),
            ["http", "https"].contains(uri[..<scheme.lowerBound].lowercased())
        else { return }
        let rest = uri[scheme.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        authority = String(rest[..<end])
        path = rest[end...].first == "/" ? String(rest[end...]) : "/" + rest[end...]
    }

    func violation(of method: HTTPRequest.Method) -> HTTPError? {
        if let authority, !authority.isHost { return .malformed("The host of the target is not valid") }
        let isUsable = path.utf8.first == UInt8(ascii: "/") || (path == "*" && method == .options) || method == .connect
        return isUsable ? nil : .malformed
    }
}

/// The header fields of a request, with the framing fields apart.
private struct HTTP1Fields {
    /// The fields without `Host`.
    var others = HTTPFields()
    private(set) var host: String?
    private(set) var announcedBytes = 0
    private(set) var hasUpgrade = false
    private(set) var expectsContinue = false
    private(set) var isChunked = false
    private var hosts = 0
    private var error: HTTPError?

    init(_ headers: HTTPHeaders) {
        others.reserveCapacity(headers.count)
        for (name, value) in headers {
            guard let name = HTTPField.Name(name) else {
                error = error ?? .malformed
                continue
            }
            take(name, value)
        }
    }

    private mutating func take(_ name: HTTPField.Name, _ value: String) {
        switch name.canonicalName {
        case "host":
            hosts += 1
            host = value
            return
        case "content-length": announcedBytes = Int(value) ?? 0
        case "upgrade": hasUpgrade = true
        case "transfer-encoding":
            // An earlier violation stays, whatever the order of the fields.
            error = error ?? (isChunked ? .malformed : Self.violation(transferCodings: value))
            isChunked = true
        case "expect":
            if value.lowercased() == "100-continue" { expectsContinue = true } else { error = error ?? .expectationFailed }
        default: break
        }
        others.append(HTTPField(name: name, value: value.asFieldValue))
    }

    /// Whether the body is chunked. No other coding is known. Source: RFC 9112, sections 6.1 and 6.3.
    private static func violation(transferCodings: String) -> HTTPError? {
        let codings = transferCodings.lowercased().split(separator: ",").map(\.trimmingSpaces)
        guard codings != ["chunked"] else { return nil }
        // The end of the body is defined only if chunked is the last coding, and occurs once.
        return codings.last == "chunked" && codings.filter { $0 == "chunked" }.count == 1 ? .notImplemented : .malformed
    }

    /// The rule that the head breaks; `nil` if it breaks none.
    func violation(isHTTP10: Bool) -> HTTPError? {
        if let error { return error }
        // HTTP/1.0 has no transfer codings: the framing is in doubt. Source: RFC 9112, section 6.1.
        if isHTTP10, isChunked { return .malformed }
        // Source: RFC 9112, section 3.2.
        if hosts == 0 { return isHTTP10 ? nil : .malformed("The request has no Host") }
        if hosts > 1 { return .malformed("The request has more than one Host") }
        return host?.isHost == true ? nil : .malformed("Host is not valid")
    }
}

extension String {
    /// `uri-host [ ":" port ]`, and not empty. Source: RFC 9110, section 7.2; RFC 3986, section 3.2.2.
    var isHost: Bool {
        var rest = utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), NetworkAddress(self[..<end].dropFirst()) != nil else {
                return false
            }
            rest = rest[rest.index(after: end)...]
        } else {
            let name = rest.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.allSatisfy(\.isRegisteredNameByte) else { return false }
            rest = rest[name.endIndex...]
        }
        guard let colon = rest.first else { return true }
        let digits = rest.dropFirst()
        return colon == UInt8(ascii: ":") && digits.count <= 5
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension UInt8 {
    /// `unreserved`, `sub-delims` and the percent sign of `pct-encoded`. Source: RFC 3986.
    fileprivate var isRegisteredNameByte: Bool { isUnreserved || "!$&'()*+,;=%".utf8.contains(self) }
}
