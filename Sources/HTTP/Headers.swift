internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import Users

extension HTTPRequest.Method {
    /// Of a request that could not be read, for those who look on.
    static let unreadable: HTTPRequest.Method = {
        guard let method = HTTPRequest.Method("-") else { preconditionFailure("- is no method") }
        return method
    }()
}

extension HTTPField.Name {
    /// - Parameter name: a valid field name, as all literals here are.
    private init(literal name: StaticString) {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is no name of a header field") }
        self = field
    }

    static let xRequestID = HTTPField.Name(literal: "x-request-id")
    static let xForwardedFor = HTTPField.Name(literal: "x-forwarded-for")
    static let xForwardedProto = HTTPField.Name(literal: "x-forwarded-proto")
    static let forwarded = HTTPField.Name(literal: "forwarded")
    static let traceparent = HTTPField.Name(literal: "traceparent")
    static let tracestate = HTTPField.Name(literal: "tracestate")
    static let link = HTTPField.Name(literal: "link")
    static let humonPosition = HTTPField.Name(literal: "humon-position")
    static let rateLimit = HTTPField.Name(literal: "ratelimit")
    static let rateLimitPolicy = HTTPField.Name(literal: "ratelimit-policy")
    static let idempotencyKey = HTTPField.Name(literal: "idempotency-key")

    /// What generations of clients call the proof that they are our app.
    static let appSecrets = [HTTPField.Name(literal: "tb-app-secret"), HTTPField.Name(literal: "x-app-secret")]

    /// What generations of clients call the name of the device.
    static let deviceTokens = [
        HTTPField.Name(literal: "tb-device-token"), HTTPField.Name(literal: "tb-auth-token"),
        HTTPField.Name(literal: "x-device-token"),
    ]
}

extension HTTPFields {
    /// What the subscript gives, without joining what is only one field, as it is nearly always.
    func value(of name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        let hasMore = self[(first + 1)...].contains { $0.name == name }
        return hasMore ? self[name] : self[first].value
    }
}

extension Request {
    /// The device that the caller names; an empty header is none.
    var deviceToken: DeviceToken? { firstValue(of: HTTPField.Name.deviceTokens).map(DeviceToken.init(secret:)) }

    /// Compared in constant time.
    func carries(_ secret: AppSecret) -> Bool {
        guard let sent = firstValue(of: HTTPField.Name.appSecrets) else { return false }
        return AppSecret(sent) == secret
    }

    private func firstValue(of names: [HTTPField.Name]) -> String? {
        for name in names { if let value = headers.value(of: name), !value.isEmpty { return value } }
        return nil
    }
}

/// What proves that a caller is our app. Only its digest is kept, and comparing digests takes the same time for all.
public struct AppSecret: Sendable, Equatable {
    private let digest: SHA256.Digest

    public init(_ secret: String) { digest = SHA256.hash(data: Array(secret.utf8)) }

    public static func == (left: AppSecret, right: AppSecret) -> Bool { left.digest == right.digest }
}

extension AppSecret: CustomStringConvertible, CustomReflectable {
    public var description: String { "AppSecret(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
