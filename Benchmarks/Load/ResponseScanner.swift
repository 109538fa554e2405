internal import NIOCore

/// Finds the ends of the responses in the bytes of a connection, and skips their bodies.
///
/// It reads only what a load generator needs, because the generator shares the processors with the server: the status and
/// `Content-Length`. It refuses every other framing.
struct ResponseScanner {
    /// Maximum size of a response's head.
    static let headLimitBytes = 16_384

    enum Failure: Error, Equatable {
        case notHTTP
        case headTooLarge
        case unsupportedFraming
    }

    private var head = ByteBuffer()
    private var status: Int?
    private var remainingBody = 0

    /// Takes the next bytes.
    /// - Returns: The status of the response that ends with these bytes; nil if it goes on.
    /// - Throws: ``Failure``
    mutating func read(_ bytes: ByteBuffer) throws(Failure) -> Int? {
        var bytes = bytes
        if status == nil {
            if head.readableBytes > 0 {
                head.writeBuffer(&bytes)
                swap(&head, &bytes)
                head.clear()
            }
            guard let parsed = try bytes.withUnsafeReadableBytes(Head.init(parsing:)) else {
                guard bytes.readableBytes <= Self.headLimitBytes else { throw .headTooLarge }
                head = bytes
                return nil
            }
            bytes.moveReaderIndex(forwardBy: parsed.length)
            status = parsed.status
            remainingBody = parsed.bodyLength
        }
        remainingBody -= bytes.readableBytes
        // More bytes than the body: a response that no request asked for.
        guard remainingBody >= 0 else { throw .unsupportedFraming }
        guard remainingBody == 0 else { return nil }
        defer { status = nil }
        return status
    }

    /// What counts of a head.
    private struct Head {
        var length: Int
        var status: Int
        var bodyLength: Int

        /// Nil if the head has no end yet.
        /// - Throws: ``Failure``
        init?(parsing bytes: UnsafeRawBufferPointer) throws(Failure) {
            var start = 0
            var (status, bodyLength) = (0, 0)
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if start == 0 {
                    guard line.starts(with: "HTTP/1.1 ".utf8), let number = Self.number(line.dropFirst(9).prefix(3)) else {
                        throw .notHTTP
                    }
                    status = number
                } else if line.count <= 1 {
                    self.length = end + 1
                    self.status = status
                    self.bodyLength = status == 204 || status == 304 ? 0 : bodyLength
                    return
                } else if Self.names("content-length:", line) {
                    guard let number = Self.number(line.dropFirst(15)) else { throw .notHTTP }
                    bodyLength = number
                } else if Self.names("transfer-encoding:", line) {
                    throw .unsupportedFraming
                }
                start = end + 1
            }
            return nil
        }

        private static func names(_ name: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
            guard line.count >= name.utf8CodeUnitCount else { return false }
            // ASCII letters differ from capital ones by this bit; other characters of a name have it already.
            for index in 0..<name.utf8CodeUnitCount where line[index] | 0x20 != name.utf8Start[index] { return false }
            return true
        }

        private static func number(_ bytes: some Sequence<UInt8>) -> Int? {
            var (value, digits) = (0, 0)
            for byte in bytes where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\r") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits < 18 else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
                digits += 1
            }
            return digits > 0 ? value : nil
        }
    }
}
