public import Encoding
internal import Foundation
internal import Hashing

/// The kinds of passes. The raw values are stored, and clients send them.
public enum PassKind: String, Sendable, Hashable, CaseIterable {
    /// A code to type on another device.
    case transfer
    /// A secret to keep for a device that will be gone.
    case recovery
    /// The secret address of a calendar. Nobody comes back with it.
    case calendar

    /// The number of letters; the seconds after which the pass expires, and the returns that it allows, `nil` for any number.
    var terms: (letters: Int, seconds: Int64?, returns: Int?) {
        switch self {
        case .transfer: (10, 600, 1)
        case .recovery: (26, nil, nil)
        case .calendar: (26, nil, 0)
        }
    }
}

/// A pass that was neither replaced nor ended nor used up, as the read model shows it. It may have expired.
public struct Pass: Sendable, Hashable {
    var user: UserID
    public var kind: PassKind
    var digest: DeviceDigest
    public var issuedAt: Timestamp
    /// `nil` for a pass that never expires.
    public var expiresAt: Timestamp?

    func isUsable(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}

/// The secret of a pass. Humon returns the text once and keeps a digest only.
public struct PassSecret: Sendable, Redacted {
    /// Crockford's base 32, in which no two letters look alike. Source: https://www.crockford.com/base32.html
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// The text, for the user and for no log, error or trace.
    public let text: String
    /// The digest of a code that is typed needs the pepper, and that of a kept secret does not, as with a device's token.
    var token: DeviceToken { DeviceToken(secret: text) }

    /// - Parameter random: 122 random bits, which decide the letters
    init(_ kind: PassKind, random: UUID) {
        text = String(SHA256.hash(random.uuidString.utf8).prefix(kind.terms.letters).map { Self.alphabet[Int($0 & 31)] })
    }

    /// Reads what a person typed: case, spaces and hyphens do not count, O is 0, and I and L are 1.
    public init(typed: String) {
        let letters = typed.uppercased().filter { !$0.isWhitespace && $0 != "-" }
        text = letters.replacing("O", with: "0").replacing("I", with: "1").replacing("L", with: "1")
    }
}
