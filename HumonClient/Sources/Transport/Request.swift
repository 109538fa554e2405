internal import Foundation

/// A request of the API, before its address and its token are known.
struct Request: Sendable {
    /// The proof of the caller's identity.
    enum Identity: Sendable {
        /// The token of the device. Without one the operation fails before it is sent.
        case device
        /// The token of the device, if it has one: reads may need it.
        case deviceIfSignedUp
        /// The secret of the app, and the token of the new device.
        case newDevice(secret: String, token: String)
        case nobody
    }

    var method: String
    /// From the address of the server, such as `/v1/events`.
    var path: String
    var query: [(name: String, value: String)] = []
    var identity: Identity
    var body: Data?
    var contentType = "application/json"
    var key: IdempotencyKey?
    var ifVersion: Version?
    /// Whether a repetition has no effect of its own, by a key or by nature.
    var isRepeatable: Bool
    /// Whether the server may answer 202, because it goes on after the response.
    var mayGoOn = false

    static func get(
        _ path: String, _ query: [(name: String, value: String)] = [], by identity: Identity = .deviceIfSignedUp
    ) -> Request {
        Request(method: "GET", path: path, query: query, identity: identity, isRepeatable: true)
    }

    /// A write of this device, repeatable by its key.
    static func write(
        _ method: String, _ path: String, body: Data? = nil, key: IdempotencyKey, ifVersion: Version? = nil
    ) -> Request {
        Request(
            method: method, path: path, identity: .device, body: body, key: key, ifVersion: ifVersion, isRepeatable: true)
    }

    /// The same value is always the same text, because a repetition under one key must be the same request.
    /// - Throws: `HumonError.unusableValue`
    static func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch let error as EncodingError {
            guard case .invalidValue(_, let context) = error else { throw error }
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw HumonError.unusableValue("\(field) has no JSON")
        }
    }

    /// Path and query, with every character escaped that has a meaning of its own.
    var address: String {
        guard !query.isEmpty else { return path }
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,:")
        let pairs = query.map { "\($0.name)=\($0.value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }
        return "\(path)?\(pairs.joined(separator: "&"))"
    }
}
