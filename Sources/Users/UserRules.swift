internal import Encoding
public import EventStore

/// A user as the read model shows it.
struct User: Sendable, Hashable {
    var id: UserID
    /// The version of its stream: the number of its domain events.
    var version: Int32
    /// The digest of the present token; `nil` if the token was revoked.
    var device: DeviceDigest?
}

/// Why a command on users is refused.
public enum UserRejection: Rejection, Hashable {
    /// The token is not well formed: ``DeviceToken/isWellFormed``.
    case malformedToken
    /// The token is no user's present token: it is unknown, or it was replaced or revoked.
    case unknownToken
    /// The new token is the present one, or it was the token of a user before.
    case usedToken
    /// No user has this id.
    case unknownUser
    /// The pass is unknown or for no return, or it was replaced, ended or used up, or it has expired. The client does not learn which.
    case unknownPass

    public var kind: RejectionKind {
        switch self {
        case .malformedToken:
            .invalid(errors: [
                FieldError("device_token", .invalidCharacters, "must consist of printable ASCII characters")
            ])
        case .unknownToken: .unauthorized
        case .usedToken: .invalid(errors: [FieldError("device_token", .alreadyUsed, "was used before")])
        case .unknownUser, .unknownPass: .notFound
        }
    }
}

/// Only the present token of a user can be replaced, and only by a token that no user had before. The log holds the second half of the
/// rule: it records each token once.
/// - Throws: ``UserRejection``
func decideRotation(of old: DeviceDigest, to new: DeviceDigest, on user: User?) throws(UserRejection) -> UserDomainEvent {
    guard let user, user.device == old else { throw .unknownToken }
    guard new != old else { throw .usedToken }
    return .rotated(device: .present(new))
}

/// - Returns: `nil` if the user has no token already
/// - Throws: ``UserRejection``
func decideRevocation(of user: User?) throws(UserRejection) -> UserDomainEvent? {
    guard let user else { throw .unknownUser }
    return user.device == nil ? nil : .revoked
}

/// A usable pass gives its user a new token, also one who has none, unless it allows no return. An erased user does not come back, even
/// before the erasure has reached the passes.
/// - Parameters:
///   - pass: `nil` if the user has no such pass
///   - last: the last domain event of the user
/// - Throws: ``UserRejection/unknownPass``
func decideReturn(with pass: Pass?, after last: UserDomainEvent, at now: Timestamp) throws(UserRejection) -> PassDomainEvent {
    guard let pass, pass.kind.terms.returns != 0, pass.isUsable(at: now), last != .erased else { throw .unknownPass }
    return .used(pass.kind, digest: .present(pass.digest))
}
