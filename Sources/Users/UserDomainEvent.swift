package import Encoding
package import EventStore

/// A device signed up, and with it a new user.
package struct UserCreated: Sendable, Hashable {
    package var device: DeviceDigest
}

/// A user got a new token in place of the present one.
package struct TokenRotated: Sendable, Hashable {
    /// The digest of the new token.
    package var device: DeviceDigest
}

/// The domain events of users.
package enum UserDomainEvent: DomainEvent, Hashable {
    case created(UserCreated)
    case rotated(TokenRotated)
    /// The user or an operator ended the token. The user has no token from then on.
    case revoked

    package static let category = "user"
    package static let storedTypes = [StoredType("UserCreated"), StoredType("TokenRotated"), StoredType("TokenRevoked")]
    package static let personalFields: Set<String> = ["device"]
    /// A token belongs to one user, once: a token that was replaced never comes back.
    package static let uniqueMembers: Set<String> = ["device"]

    package init(type: String, data: JSON) throws {
        switch type {
        case "UserCreated": self = .created(UserCreated(device: try Self.device(data)))
        case "TokenRotated": self = .rotated(TokenRotated(device: try Self.device(data)))
        case "TokenRevoked": self = .revoked
        default: throw FormatError("no stored type \(type)")
        }
    }

    private static func device(_ data: JSON) throws -> DeviceDigest {
        try data.stored("device") { $0.storedString.flatMap(DeviceDigest.init(stored:)) }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard UserID(stream: stream) != nil else { throw FormatError("the stream is not named after a user's id") }
        switch self {
        case .created: guard version == 1 else { throw FormatError("a user is created at version 1 only") }
        case .rotated: guard version > 1 else { throw FormatError("a user is created before its token is rotated") }
        case .revoked: guard version > 1 else { throw FormatError("a user is created before its token is revoked") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created): ("UserCreated", ["device": .string(created.device.hexadecimal)])
        case .rotated(let rotated): ("TokenRotated", ["device": .string(rotated.device.hexadecimal)])
        case .revoked: ("TokenRevoked", [:])
        }
    }

    package var state: JSON {
        switch self {
        case .created, .rotated: stored.data
        case .revoked: ["device": .null]
        }
    }
}

extension UserID {
    package var stream: StreamName { StreamName(category: UserDomainEvent.category, key: String(rawValue)) }

    /// The user of a stream; `nil` for any other stream, and for a key that ``stream`` does not write.
    package init?(stream: StreamName) {
        guard stream.category == UserDomainEvent.category, let number = stream.keyAsID else { return nil }
        self.init(rawValue: number)
    }
}

/// The id of a user.
public struct UserID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
