package import Encoding
package import EventStore

/// The domain events of a user's passes. Their stream is not the user's, which must end with the domain event of the token.
package enum PassDomainEvent: DomainEvent, Hashable {
    /// A user got a pass, in place of the present one of that kind.
    case issued(PassKind, digest: Personal<DeviceDigest>, expiresAt: Timestamp?)
    /// The user came back with a pass. The same append gives the user a new token.
    case used(PassKind, digest: Personal<DeviceDigest>)
    /// The user or an operator ended the pass, or the user replaced the token.
    case ended(PassKind)
    /// The user was erased. It is the last domain event of the stream.
    case erased

    package static let category = "pass"
    package static let storedTypes = [
        StoredType("PassIssued"), StoredType("PassUsed"), StoredType("PassEnded"), StoredType("PassErased"),
    ]
    package static let personal = PersonalMembers(["digest"], of: UsersModule.passesOfUser)

    package init(type: String, content: EventContent) throws {
        func kind() throws -> PassKind {
            try content.facts.stored("kind") { $0.storedString.flatMap(PassKind.init(rawValue:)) }
        }
        func digest() throws -> Personal<DeviceDigest> {
            try content.readPersonal { try $0.stored("digest") { $0.storedString.flatMap(DeviceDigest.init(stored:)) } }
        }
        switch type {
        case "PassIssued":
            let expiresAt = try content.facts.stored("expires_at") { $0.storedOptional { $0.storedTimestamp } }
            self = .issued(try kind(), digest: try digest(), expiresAt: expiresAt)
        case "PassUsed": self = .used(try kind(), digest: try digest())
        case "PassEnded": self = .ended(try kind())
        case "PassErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard UserID(passes: stream) != nil else { throw FormatError("the stream is not named after a user's id") }
        if case .issued = self { return }
        guard version > 1 else { throw FormatError("a pass is issued before it is used, ended or erased") }
    }

    package var stored: (type: String, data: JSON) {
        func members(_ kind: PassKind, _ digest: Personal<DeviceDigest>) -> JSONObject {
            var members: JSONObject = ["kind": .string(kind.rawValue)]
            if case .present(let digest) = digest { members["digest"] = .string(digest.hexadecimal) }
            return members
        }
        switch self {
        case .issued(let kind, let digest, let expiresAt):
            var issued = members(kind, digest)
            issued["expires_at"] = JSON(expiresAt?.description)
            return ("PassIssued", .object(issued))
        case .used(let kind, let digest): return ("PassUsed", .object(members(kind, digest)))
        case .ended(let kind): return ("PassEnded", ["kind": .string(kind.rawValue)])
        case .erased: return ("PassErased", [:])
        }
    }

    /// The last domain event of each kind of pass.
    package var state: JSON {
        switch self {
        case .issued(let kind, _, _), .used(let kind, _), .ended(let kind): [kind.rawValue: .string(stored.type)]
        case .erased: ["erased": .bool(true)]
        }
    }
}

extension UserID {
    /// The stream of the user's passes, such as `pass-7`.
    var passes: StreamName { StreamName(category: PassDomainEvent.category, key: String(rawValue)) }

    /// The user whose passes are in this stream; `nil` for any other stream.
    init?(passes stream: StreamName) {
        guard stream.category == PassDomainEvent.category, let id = stream.keyAsID else { return nil }
        self.init(rawValue: id)
    }
}
