public import Encoding
internal import HTTPServer
public import HTTPTypes
internal import Hashing
internal import Users

extension HTTPField.Name {
    static let link = HTTPField.Name(literal: "link")
    static let humonPosition = HTTPField.Name(literal: "humon-position")
    static let idempotencyKey = HTTPField.Name(literal: "idempotency-key")
    static let lastEventID = HTTPField.Name(literal: "last-event-id")
    /// Tells nginx to pass each part of a stream on at once.
    static let xAccelBuffering = HTTPField.Name(literal: "x-accel-buffering")
    static let authToken = HTTPField.Name(literal: "tb-auth-token")

    /// The names that generations of clients use for the app's secret.
    static let appSecrets = [HTTPField.Name(literal: "tb-app-secret"), HTTPField.Name(literal: "x-app-secret")]

    /// The names that generations of clients use for the device token.
    static let deviceTokens = [
        HTTPField.Name(literal: "tb-device-token"), authToken, HTTPField.Name(literal: "x-device-token"),
    ]
}

extension API {
    /// The request fields that may hold a device token.
    public static let tokenHeaders = HTTPField.Name.deviceTokens
}

extension Request {
    /// The device token of the request; `nil` without a header and for an empty one.
    var deviceToken: DeviceToken? { firstValue(of: HTTPField.Name.deviceTokens).map(DeviceToken.init(secret:)) }

    /// The token of `Authorization: Bearer` (RFC 6750). A request with two such fields has none.
    var bearerToken: String? {
        guard let sent = headers.value(of: .authorization) else { return nil }
        let parts = sent.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    /// Compares the app's secret in constant time.
    func carries(_ secret: SharedSecret) -> Bool {
        guard let sent = firstValue(of: HTTPField.Name.appSecrets) else { return false }
        return secret.accepts(sent)
    }

    private func firstValue(of names: [HTTPField.Name]) -> String? {
        for name in names { if let value = headers.value(of: name), !value.isEmpty { return value } }
        return nil
    }
}

/// A secret by which callers prove to be our app, or operators, and the one before it while the secret changes. It keeps digests only.
public struct SharedSecret: Sendable, Redacted {
    /// A shorter secret can be guessed. That of the app is in every installed app and changes slowly, so the limit is no higher.
    public static let minimumBytes = 8

    private let digests: [SHA256.Digest]

    /// - Parameter previous: the secret that older callers still send; `nil` if there are none
    public init(_ secret: String, previous: String? = nil) {
        digests = [secret, previous].compactMap { $0.map { SHA256.hash($0.utf8) } }
    }

    /// Whether a text can be the app's secret. A comma is refused, because it once separated two secrets.
    public static func isUsable(_ secret: String) -> Bool {
        secret.utf8.count >= minimumBytes
            && secret.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// Compares digests in constant time, and always all of them: the time tells neither a part of a secret nor which one is right.
    func accepts(_ sent: String) -> Bool {
        let digest = SHA256.hash(sent.utf8)
        return digests.reduce(false) { isAccepted, known in
            let isEqual = known == digest
            return isAccepted || isEqual
        }
    }
}

extension Response {
    /// Lets caches keep the response and ask the server before each use. Shared caches may keep it if reads are public. Source: RFC 9111, section 5.2.2.4.
    mutating func setCacheControl(for reads: API.Reads) {
        let directives =
            switch reads {
            case .everyone: "public, no-cache"
            case .devices: "private, no-cache"
            }
        headers.append(HTTPField(name: .cacheControl, value: directives))
    }
}
