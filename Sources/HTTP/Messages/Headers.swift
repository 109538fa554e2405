internal import Crypto
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension HTTPField.Name {
    static let link = HTTPField.Name(literal: "link")
    static let humonPosition = HTTPField.Name(literal: "humon-position")
    static let idempotencyKey = HTTPField.Name(literal: "idempotency-key")

    /// The names that generations of clients use for the app's secret.
    static let appSecrets = [HTTPField.Name(literal: "tb-app-secret"), HTTPField.Name(literal: "x-app-secret")]

    /// The names that generations of clients use for the device token.
    static let deviceTokens = [
        HTTPField.Name(literal: "tb-device-token"), HTTPField.Name(literal: "tb-auth-token"),
        HTTPField.Name(literal: "x-device-token"),
    ]
}

extension Request {
    /// The device token of the request; `nil` without a header and for an empty one.
    var deviceToken: DeviceToken? { firstValue(of: HTTPField.Name.deviceTokens).map(DeviceToken.init(secret:)) }

    /// Compares the app's secret in constant time.
    func carries(_ secret: AppSecret) -> Bool {
        guard let sent = firstValue(of: HTTPField.Name.appSecrets) else { return false }
        return AppSecret(sent) == secret
    }

    private func firstValue(of names: [HTTPField.Name]) -> String? {
        for name in names { if let value = headers.value(of: name), !value.isEmpty { return value } }
        return nil
    }
}

/// The secret by which a caller proves to be our app. It keeps a digest only, and compares digests in constant time.
public struct AppSecret: Sendable, Equatable {
    private let digest: SHA256.Digest

    public init(_ secret: String) { digest = SHA256.hash(data: Array(secret.utf8)) }

    public static func == (left: AppSecret, right: AppSecret) -> Bool { left.digest == right.digest }
}

extension AppSecret: CustomStringConvertible, CustomReflectable {
    public var description: String { "AppSecret(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
