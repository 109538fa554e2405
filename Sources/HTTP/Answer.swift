internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Notation

/// What a request is answered. All of it lies ready before any of it is sent.
struct Answer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: ByteBuffer

    init(status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// - Parameter jsonBytes: a JSON text
    init(status: HTTPResponse.Status = .ok, jsonBytes: ByteBuffer) {
        var headers = HTTPFields()
        // As many as a read has, so that they are not moved as they become more.
        headers.reserveCapacity(12)
        headers.append(HTTPField(name: .contentType, value: "application/json; charset=utf-8"))
        self.init(status: status, headers: headers, body: jsonBytes)
    }

    init(status: HTTPResponse.Status = .ok, json: JSON) { self.init(status: status, jsonBytes: ByteBuffer(bytes: json.utf8)) }

    /// As it is answered to HEAD: the length is told all the same.
    mutating func dropBody() {
        tellLength()
        body.clear()
    }

    /// Unless that was done before.
    mutating func tellLength() {
        if !headers.contains(.contentLength) {
            headers.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
        }
    }
}

extension Response {
    init(_ answer: Answer) {
        self.init(status: answer.status, headers: answer.headers, body: ResponseBody(byteBuffer: answer.body))
    }
}
