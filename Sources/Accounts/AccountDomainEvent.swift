package import Encoding
public import EventStore

/// A person signed up, and with it a first token was issued.
package struct AccountCreated: Sendable, Hashable {
    package var name: String?
    package var email: EmailAddress
    package var password: PasswordHash
    package var token: TokenDigest
}

/// A client proved the password and got a token. The domain event is kept because it holds the token's digest.
package struct SignedIn: Sendable, Hashable {
    package var token: TokenDigest
    /// The oldest token, which the new one replaces; `nil` if the account had room for one more.
    package var replaced: TokenDigest?
}

/// The domain events of accounts.
package enum AccountDomainEvent: DomainEvent, Hashable {
    case created(Personal<AccountCreated>)
    /// The account has another hash, of the same password or of a new one. A sign-in records it if the stored parameters are weaker than
    /// the current ones.
    case passwordChanged(Personal<PasswordHash>)
    case signedIn(Personal<SignedIn>)
    /// A token ended: its client gave it back, another client changed the password, or an operator revoked it.
    case signedOut(revoked: Personal<TokenDigest>)
    /// The person, or an operator for them, asked to be forgotten. It is the last domain event of the stream.
    case erased

    package static let category = AccountID.category
    package static let storedTypes = [
        StoredType("AccountCreated"), StoredType("PasswordChanged"), StoredType("SignedIn"), StoredType("SignedOut"),
        StoredType("AccountErased"),
    ]
    package static let personal = PersonalMembers.ofThePerson(["name", "email", "password", "token", "replaced", "revoked"])
    package static let uniqueMembers: Set<String> = ["email", "token"]

    package init(type: String, content: EventContent) throws {
        switch type {
        case "AccountCreated":
            let person = try content.readPersonal { data in
                AccountCreated(
                    name: try data.stored("name") { $0.storedOptional { $0.storedString } },
                    email: try data.stored("email") { $0.storedString.flatMap(EmailAddress.init(stored:)) },
                    password: try data.stored("password") { $0.storedString.flatMap(PasswordHash.init(stored:)) },
                    token: try data.stored("token") { $0.storedDigest })
            }
            self = .created(person)
        case "PasswordChanged":
            self = .passwordChanged(
                try content.readPersonal { try $0.stored("password") { $0.storedString.flatMap(PasswordHash.init(stored:)) } })
        case "SignedIn":
            let tokens = try content.readPersonal { data in
                SignedIn(
                    token: try data.stored("token") { $0.storedDigest },
                    replaced: try data.stored("replaced") { $0.storedOptional { $0.storedDigest } })
            }
            self = .signedIn(tokens)
        case "SignedOut":
            self = .signedOut(revoked: try content.readPersonal { try $0.stored("revoked") { $0.storedDigest } })
        case "AccountErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard AccountID(stream: stream) != nil else { throw FormatError("the stream is not named after an account's id") }
        switch self {
        case .created(let created):
            guard version == 1 else { throw FormatError("an account is created at version 1 only") }
            // PostgreSQL's text cannot hold it.
            if case .present(let person) = created, person.name?.utf8.contains(0) == true {
                throw FormatError("the name contains U+0000")
            }
        case .passwordChanged, .signedIn, .signedOut, .erased:
            guard version > 1 else { throw FormatError("an account is created before it is changed") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created):
            let person = Self.data(created) { person in
                [
                    "name": JSON(person.name), "email": .string(person.email.text),
                    "password": .string(person.password.stored), "token": .string(person.token.text),
                ]
            }
            return ("AccountCreated", person)
        case .passwordChanged(let password):
            return ("PasswordChanged", Self.data(password) { ["password": .string($0.stored)] })
        case .signedIn(let signedIn):
            let tokens = Self.data(signedIn) { ["token": .string($0.token.text), "replaced": JSON($0.replaced?.text)] }
            return ("SignedIn", tokens)
        case .signedOut(let revoked):
            return ("SignedOut", Self.data(revoked) { ["revoked": .string($0.text)] })
        case .erased: return ("AccountErased", [:])
        }
    }

    /// All members of an account's domain events are personal.
    private static func data<Value>(_ personal: Personal<Value>, _ data: (Value) -> JSON) -> JSON {
        switch personal {
        case .present(let value): data(value)
        case .erased: [:]
        }
    }

    package var state: JSON {
        switch self {
        case .created, .passwordChanged, .signedIn, .signedOut: stored.data
        case .erased: ["erased": .bool(true)]
        }
    }
}

extension JSON {
    fileprivate var storedDigest: TokenDigest? { storedString.flatMap(TokenDigest.init(stored:)) }
}

/// The id of an account. An account is a person with an e-mail address and a password; a user of the module Users is a device.
public struct AccountID: StreamID {
    public static let category = "account"

    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}
