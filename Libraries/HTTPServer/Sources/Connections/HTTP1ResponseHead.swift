internal import HTTPTypes
internal import NIOCore

extension Response {
    /// An estimate of the bytes of a head, so that its buffer need not grow.
    static let headBytes = 640

    /// The head with a small body behind it, and the rest of a large body.
    /// - Parameter isLast: whether the connection ends with the response
    mutating func http1Bytes(
        isLast: Bool, isHTTP10: Bool, _ allocator: ByteBufferAllocator
    ) -> (head: ByteBuffer, rest: ByteBuffer) {
        if stream != nil, !isHTTP10 { headers[.transferEncoding] = "chunked" }
        setContentLengthHeader()
        var rest = body
        let isSmall = rest.readableBytes <= BufferBudget.trackedBytes
        var bytes = allocator.buffer(capacity: Self.headBytes + (isSmall ? rest.readableBytes : 0))
        writeHTTP1Head(into: &bytes, connection: isLast ? "close" : isHTTP10 ? "keep-alive" : nil)
        if isSmall { bytes.writeBuffer(&rest) }
        return (bytes, rest)
    }

    /// Writes the status line and the header fields. Source: RFC 9112, sections 4 and 5.
    /// - Parameter connection: the value of `Connection`, if it is sent
    private func writeHTTP1Head(into buffer: inout ByteBuffer, connection: StaticString?) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(status.code))
        buffer.writeStaticString(" ")
        buffer.writeString(status.reasonPhrase)
        buffer.writeStaticString("\r\n")
        // `HTTPField` guarantees that names are tokens and values contain no line ends.
        for field in headers {
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("Date: ")
        buffer.writeString(HTTPDate.now)
        buffer.writeStaticString("\r\n")
        if let connection {
            buffer.writeStaticString("Connection: ")
            buffer.writeStaticString(connection)
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
    }
}
