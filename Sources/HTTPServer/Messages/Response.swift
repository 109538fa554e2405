public import Encoding
public import HTTPTypes
public import NIOCore

/// A whole response. All of it is in memory before the first byte is sent.
public struct Response: Sendable {
    public var status: HTTPResponse.Status
    public var headers: HTTPFields
    public var body: ByteBuffer

    public init(status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// - Parameter jsonBytes: a JSON text
    public init(status: HTTPResponse.Status = .ok, jsonBytes: ByteBuffer) {
        var headers = HTTPFields()
        // Room for the fields that middleware and server append, so that they are not moved.
        headers.reserveCapacity(12)
        headers.append(HTTPField(name: .contentType, value: "application/json; charset=utf-8"))
        self.init(status: status, headers: headers, body: jsonBytes)
    }

    public init(status: HTTPResponse.Status = .ok, json: JSON) {
        self.init(status: status, jsonBytes: ByteBuffer(bytes: json.utf8))
    }

    public init(status: HTTPResponse.Status = .ok, text: String) {
        self.init(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: ByteBuffer(string: text))
    }

    /// Sets `Content-Length`, unless the field is there already.
    mutating func addContentLengthHeader() {
        if !headers.contains(.contentLength) {
            headers.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
        }
    }

    /// Removes the body but keeps its length: the response to HEAD.
    mutating func removeBody() {
        addContentLengthHeader()
        body.clear()
    }

    /// The status forbids a body, so that a length must not be sent. Source: RFC 9110, section 8.6.
    var hasNoContent: Bool { status.kind == .informational || status == .noContent || status == .notModified }
}
