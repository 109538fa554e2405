internal import EventStore
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore

extension Request {
    /// The longest key, in bytes.
    static let keyLengthLimit = 255

    /// The idempotency key of the request. The same key with another method, path, format or body belongs to another request.
    /// - Throws: `HTTPError.badRequest(_:code:)` if the key cannot be used
    func idempotencyKey(_ fields: RequestFields) throws(HTTPError) -> IdempotencyKey? {
        guard let header = headers.value(of: .idempotencyKey) else { return nil }
        guard let text = Self.key(in: header), (1...Self.keyLengthLimit).contains(text.utf8.count) else {
            throw .badRequest(
                "The Idempotency-Key must be 1 to \(Self.keyLengthLimit) visible ASCII characters without a comma, or a string in quotes",
                code: .malformedIdempotencyKey)
        }
        let request = Array("\(method.rawValue) \(path)\n\(fields.format.rawValue)\n".utf8) + fields.body.readableBytesView
        return IdempotencyKey(text, request: request)
    }

    /// Reads a quoted string without its parameters, as the draft defines it (RFC 8941, section 3.3.3). Many clients send a bare
    /// key, which is read too.
    private static func key(in header: String) -> String? {
        guard header.utf8.first == UInt8(ascii: "\"") else {
            return header.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") } ? header : nil
        }
        var key: [UInt8] = []
        var rest = header.utf8.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                return rest.isEmpty || rest.first == UInt8(ascii: ";") ? String(decoding: key, as: UTF8.self) : nil
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(escaped) else {
                    return nil
                }
                key.append(escaped)
            case 0x20...0x7E: key.append(byte)
            default: return nil
            }
        }
        return nil
    }
}
