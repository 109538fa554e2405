public import Encoding
internal import EventStore
internal import Foundation
internal import Hashing

/// The secret by which a client proves its account. Humon returns the text once and keeps a digest only. An account has several.
///
/// Tokens are compared and hashed by their digests, because a client may send any text.
public struct AccountToken: Sendable, Hashable, Redacted {
    /// The text, for the client itself and for no log, error or trace.
    public let secret: String
    let digest: TokenDigest

    public init(secret: String) {
        self.secret = secret
        digest = TokenDigest(of: secret)
    }

    public static func == (left: AccountToken, right: AccountToken) -> Bool { left.digest == right.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// A new token of 122 random bits.
    init(_ dependencies: Dependencies) { self.init(secret: dependencies.randomUUID().uuidString.lowercased()) }
}

/// The SHA-256 digest of an account's token: 64 lower-case hexadecimal digits.
package struct TokenDigest: Sendable, Hashable, Redacted {
    let text: String

    fileprivate init(of secret: String) {
        text = SHA256.hash(secret.utf8).hexadecimal
    }

    /// Reads a stored digest; `nil` for any other text, upper-case digits included.
    init?(stored text: String) {
        guard text.isHexadecimal(digits: 64) else { return nil }
        self.text = text
    }
}
