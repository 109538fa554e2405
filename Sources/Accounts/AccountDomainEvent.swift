package import Encoding
package import EventStore

/// A person signed up, and with it a first token was issued.
package struct AccountCreated: Sendable, Hashable {
    package var name: String?
    package var email: EmailAddress
    package var password: PasswordHash
    package var token: TokenDigest
}

/// The account has another hash, of the same password or of a new one. A sign-in records it if the stored parameters are weaker than the
/// current ones.
package struct PasswordChanged: Sendable, Hashable {
    package var password: PasswordHash
}

/// A client proved the password and got a token. The domain event is kept because it holds the token's digest.
package struct SignedIn: Sendable, Hashable {
    package var token: TokenDigest
    /// The oldest token, which the new one replaces; `nil` if the account had room for one more.
    package var replaced: TokenDigest?
}

/// A token ended: its client gave it back, another client changed the password, or an operator revoked it.
package struct SignedOut: Sendable, Hashable {
    package var revoked: TokenDigest
}

/// The domain events of accounts.
package enum AccountDomainEvent: DomainEvent, Hashable {
    case created(AccountCreated)
    case passwordChanged(PasswordChanged)
    case signedIn(SignedIn)
    case signedOut(SignedOut)

    package static let category = "account"
    package static let storedTypes = [
        StoredType("AccountCreated"), StoredType("PasswordChanged"), StoredType("SignedIn"), StoredType("SignedOut"),
    ]
    package static let personalFields: Set<String> = ["name", "email", "password", "token", "replaced", "revoked"]
    package static let uniqueMembers: Set<String> = ["email", "token"]

    package init(type: String, data: JSON) throws {
        switch type {
        case "AccountCreated":
            self = .created(
                AccountCreated(
                    name: try data.stored("name") { $0.storedOptional { $0.storedString } },
                    email: try data.stored("email") { $0.storedString.flatMap(EmailAddress.init(stored:)) },
                    password: try data.stored("password") { $0.storedString.flatMap(PasswordHash.init(stored:)) },
                    token: try data.stored("token") { $0.storedDigest }))
        case "PasswordChanged":
            let password = try data.stored("password") { $0.storedString.flatMap(PasswordHash.init(stored:)) }
            self = .passwordChanged(PasswordChanged(password: password))
        case "SignedIn":
            self = .signedIn(
                SignedIn(
                    token: try data.stored("token") { $0.storedDigest },
                    replaced: try data.stored("replaced") { $0.storedOptional { $0.storedDigest } }))
        case "SignedOut": self = .signedOut(SignedOut(revoked: try data.stored("revoked") { $0.storedDigest }))
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard AccountID(stream: stream) != nil else { throw FormatError("the stream is not named after an account's id") }
        switch self {
        case .created(let created):
            guard version == 1 else { throw FormatError("an account is created at version 1 only") }
            // PostgreSQL's text cannot hold it.
            guard created.name?.utf8.contains(0) != true else { throw FormatError("the name contains U+0000") }
        case .passwordChanged, .signedIn, .signedOut:
            guard version > 1 else { throw FormatError("an account is created before it is changed") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created):
            (
                "AccountCreated",
                [
                    "name": JSON(created.name), "email": .string(created.email.text),
                    "password": .string(created.password.stored), "token": .string(created.token.text),
                ]
            )
        case .passwordChanged(let changed): ("PasswordChanged", ["password": .string(changed.password.stored)])
        case .signedIn(let signedIn):
            ("SignedIn", ["token": .string(signedIn.token.text), "replaced": JSON(signedIn.replaced?.text)])
        case .signedOut(let signedOut): ("SignedOut", ["revoked": .string(signedOut.revoked.text)])
        }
    }
}

extension JSON {
    fileprivate var storedDigest: TokenDigest? { storedString.flatMap(TokenDigest.init(stored:)) }
}

extension AccountID {
    package var stream: StreamName { StreamName(category: AccountDomainEvent.category, key: String(rawValue)) }

    /// The account of a stream; `nil` for any other stream, and for a key that ``stream`` does not write.
    package init?(stream: StreamName) {
        guard stream.category == AccountDomainEvent.category, let number = stream.keyAsID else { return nil }
        self.init(rawValue: number)
    }
}

/// The id of an account. An account is a person with an e-mail address and a password; a user of the module Users is a device.
public struct AccountID: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
