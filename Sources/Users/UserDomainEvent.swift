package import Encoding
package import EventStore

/// A device signed up, and with it a new user.
package struct UserCreated: Sendable, Hashable {
    package var device: DeviceDigest
}

/// The domain events of users.
package enum UserDomainEvent: DomainEvent, Hashable {
    case created(UserCreated)

    package static let category = "user"
    package static let storedTypes = [StoredType("UserCreated")]
    package static let personalFields: Set<String> = ["device"]
    /// A device has one user only.
    package static let uniqueMembers: Set<String> = ["device"]

    package init(type: String, data: JSON) throws {
        switch type {
        case "UserCreated":
            self = .created(
                UserCreated(device: try data.stored("device") { $0.storedString.flatMap(DeviceDigest.init(stored:)) })
            )
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard UserID(stream: stream) != nil else { throw FormatError("the stream is not named after a user's id") }
        guard version == 1 else { throw FormatError("a user is created at version 1 only") }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created): ("UserCreated", ["device": .string(created.device.hexadecimal)])
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
