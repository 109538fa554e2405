public import Encoding
public import HTTPTypes
public import NIOCore

/// A response. All of it is in memory before the first byte is sent, unless it has a ``stream``.
public struct Response: Sendable {
    public var status: HTTPResponse.Status
    public var headers: HTTPFields
    public var body: ByteBuffer
    /// Writes the body while the client reads it, instead of ``body``.
    public internal(set) var stream: ResponseStream?
    /// The bytes that the server's budget counts for ``body``; `nil` for a small one.
    var reserved: ReservedBytes?
    /// Whether the body is a stream, also in the response to HEAD, which has no body.
    private var isStream = false

    public init(status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public init(status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], stream: ResponseStream) {
        self.init(status: status, headers: headers)
        self.stream = stream
        isStream = true
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

    /// Sets `Content-Length`, unless the field is there already or the length is unknown. Removes it if the status forbids a body.
    /// Source: RFC 9110, section 8.6.
    mutating func setContentLengthHeader() {
        if status.kind == .informational || status == .noContent || status == .notModified {
            headers[.contentLength] = nil
        } else if !isStream, !headers.contains(.contentLength) {
            headers.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
        }
    }

    /// Removes the body but keeps its length: the response to HEAD.
    mutating func removeBody() {
        setContentLengthHeader()
        body.clear()
    }
}

extension ByteBuffer {
    public init(_ bytes: RawSpan) {
        self = ByteBufferAllocator().buffer(capacity: bytes.byteCount)
        writeBytes(bytes)
    }

    /// Joins JSON texts to an array.
    /// - Parameters:
    ///   - count: number of texts
    ///   - bytes: number of bytes of all texts
    ///   - forEach: calls its closure with each text in turn
    public init(jsonArrayOf count: Int, bytes: Int, forEach: ((RawSpan) -> Void) -> Void) {
        guard count > 0 else { self.init(string: "[]"); return }
        let size = bytes + count + 1
        self.init()
        // Checks the buffer's size once, and not for each text and comma.
        unsafe writeWithUnsafeMutableBytes(minimumWritableBytes: size) { output in
            var rest = unsafe UnsafeMutableRawBufferPointer(rebasing: output[..<size])
            forEach { json in
                precondition(json.byteCount < rest.count)
                // A comma before each text. The first comma becomes the bracket.
                unsafe rest[0] = UInt8(ascii: ",")
                unsafe json.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(rebasing: rest[1...]).copyMemory(from: $0) }
                unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[(json.byteCount + 1)...])
            }
            precondition(rest.count == 1)
            unsafe rest[0] = UInt8(ascii: "]")
            unsafe output[0] = UInt8(ascii: "[")
            return size
        }
    }
}
