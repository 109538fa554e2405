internal import Crypto
internal import HTTPTypes
internal import Hummingbird

/// The bearer token that the operators' address asks for (RFC 6750). Only its SHA-256 digest is kept; the comparison of two digests
/// takes the same time whatever they are.
public struct AdminToken: Sendable, Equatable {
    private let digest: SHA256.Digest

    public init(_ token: String) { digest = SHA256.hash(data: Array(token.utf8)) }

    public static func == (left: AdminToken, right: AdminToken) -> Bool { left.digest == right.digest }

    /// Whether a request carries this token in `Authorization: Bearer`. A request with two such fields does not.
    func isCarried(by request: Request) -> Bool {
        guard let sent = request.headers.value(of: .authorization) else { return false }
        let parts = sent.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == "bearer" && AdminToken(String(parts[1])) == self
    }
}

extension AdminToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "AdminToken(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
