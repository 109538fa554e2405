package import Encoding
public import EventStore

/// The domain events of users.
package enum UserDomainEvent: DomainEvent, Hashable {
    /// A device signed up, and with it a new user.
    case created(device: Personal<DeviceDigest>)
    /// A user got a new token in place of the present one.
    case rotated(device: Personal<DeviceDigest>)
    /// The user or an operator ended the token. The user has no token from then on.
    case revoked
    /// The user, or an operator for them, asked to be forgotten. It is the last domain event of the stream.
    case erased

    package static let category = UserID.category
    package static let storedTypes = [
        StoredType("UserCreated"), StoredType("TokenRotated"), StoredType("TokenRevoked"), StoredType("UserErased"),
    ]
    package static let personal = PersonalMembers.ofThePerson(["device"])
    /// A token belongs to one user, once: a token that was replaced never comes back.
    package static let uniqueMembers: Set<String> = ["device"]

    package init(type: String, content: EventContent) throws {
        switch type {
        case "UserCreated": self = .created(device: try Self.device(content))
        case "TokenRotated": self = .rotated(device: try Self.device(content))
        case "TokenRevoked": self = .revoked
        case "UserErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    private static func device(_ content: EventContent) throws -> Personal<DeviceDigest> {
        try content.readPersonal { try $0.stored("device") { $0.storedString.flatMap(DeviceDigest.init(stored:)) } }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard UserID(stream: stream) != nil else { throw FormatError("the stream is not named after a user's id") }
        switch self {
        case .created: guard version == 1 else { throw FormatError("a user is created at version 1 only") }
        case .rotated: guard version > 1 else { throw FormatError("a user is created before its token is rotated") }
        case .revoked: guard version > 1 else { throw FormatError("a user is created before its token is revoked") }
        case .erased: guard version > 1 else { throw FormatError("a user is created before it is erased") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let device): ("UserCreated", Self.data(device))
        case .rotated(let device): ("TokenRotated", Self.data(device))
        case .revoked: ("TokenRevoked", [:])
        case .erased: ("UserErased", [:])
        }
    }

    private static func data(_ device: Personal<DeviceDigest>) -> JSON {
        switch device {
        case .present(let device): ["device": .string(device.hexadecimal)]
        case .erased: [:]
        }
    }

    package var state: JSON {
        switch self {
        case .created, .rotated: stored.data
        case .revoked: ["device": .null]
        case .erased: ["device": .null, "erased": .bool(true)]
        }
    }
}

/// The id of a user.
public struct UserID: StreamID {
    public static let category = "user"

    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
