public import Encoding
public import EventStore

/// Create an account, from the fields of the request.
public struct SignUp: Sendable {
    /// The longest name, in Unicode scalars.
    static let nameLimit = 255

    private let fields: JSON

    public init(_ fields: JSON) { self.fields = fields }

    /// The address; `nil` if it cannot be used. Its account may exist already.
    var email: EmailAddress? { fields["email"]?.storedString.flatMap { EmailAddress($0) } }

    /// The usable fields.
    struct Valid: Sendable {
        var name: String?
        var email: EmailAddress
        var password: Password
    }

    /// - Parameter isTaken: whether an account with the address exists
    /// - Throws: ``AccountRejection/invalid(errors:)`` with all validation errors
    func validated(isTaken: Bool) throws(AccountRejection) -> Valid {
        var errors: [FieldError] = []
        let name = name(&errors)
        let email = email
        switch fields["email"] {
        case nil, .null: errors.append(.blank("email", at: "/user/email"))
        case .string(let text) where text.isBlank: errors.append(.blank("email", at: "/user/email"))
        case _ where email == nil:
            errors.append(FieldError("email", .notAnEmailAddress, "is invalid", at: "/user/email"))
        case _ where isTaken: errors.append(AccountRejection.taken)
        case _: break
        }
        let password = password(&errors)
        guard errors.isEmpty, let email, let password else { throw .invalid(errors: errors) }
        return Valid(name: name, email: email, password: password)
    }

    private func name(_ errors: inout [FieldError]) -> String? {
        switch fields["name"] {
        case nil, .null: return nil
        case .string(let text) where text.isBlank: return nil
        case .string(let text):
            if text.unicodeScalars.count > Self.nameLimit {
                errors.append(.tooLong("name", maximum: Self.nameLimit, "characters", at: "/user/name"))
            }
            if text.utf8.contains(0) { errors.append(.nullCharacter("name", at: "/user/name")) }
            return text
        case .bool, .number, .array, .object:
            errors.append(.notAText("name", at: "/user/name"))
            return nil
        }
    }

    private func password(_ errors: inout [FieldError]) -> Password? {
        let pointer = "/user/password"
        switch fields["password"] {
        case nil, .null, .string(""): errors.append(.blank("password", at: pointer))
        case .string(let text):
            let password = Password(text)
            if password.length < Password.lengths.lowerBound {
                let words = "is too short (minimum is \(Password.lengths.lowerBound) characters)"
                errors.append(FieldError("password", .tooShort, words, at: pointer))
            }
            if password.length > Password.lengths.upperBound {
                errors.append(.tooLong("password", maximum: Password.lengths.upperBound, "characters", at: pointer))
            }
            return password
        case .bool, .number, .array, .object: errors.append(.notAText("password", at: pointer))
        }
        return nil
    }
}

/// The fields can contain a password.
extension SignUp: CustomStringConvertible, CustomReflectable {
    public var description: String { "SignUp(redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Prove an account's password and get a token.
public struct SignIn: Sendable {
    /// `nil` for a text that is no address: no account has it.
    public var email: EmailAddress?
    var password: Password

    /// Reads what the client sent. A field that is missing or no text is wrong like any other wrong address or password.
    public init(_ fields: JSON?) {
        email = fields?["email"]?.storedString.flatMap { EmailAddress($0) }
        password = Password(fields?["password"]?.storedString ?? "")
    }
}

/// Why a command on accounts is refused.
public enum AccountRejection: Rejection, Hashable {
    case invalid(errors: [FieldError])
    /// The address or the password is wrong; the client does not learn which.
    case wrongCredentials
    case unknownToken

    static let taken = FieldError("email", .taken, "has already been taken", at: "/user/email")

    public var kind: RejectionKind {
        switch self {
        case .invalid(let errors): .invalid(errors: errors)
        case .wrongCredentials, .unknownToken: .unauthorized
        }
    }

    public var code: RejectionCode? {
        switch self {
        case .wrongCredentials: RejectionCode("wrong_credentials")
        case .invalid, .unknownToken: nil
        }
    }

    public var message: String? {
        switch self {
        case .wrongCredentials: "Invalid email or password"
        case .invalid, .unknownToken: nil
        }
    }
}

/// The part of an account on which a sign-in is decided.
struct Account: Sendable, Hashable {
    /// The largest number of an account's tokens. A further sign-in replaces the oldest one.
    static let tokenLimit: Int64 = 20

    var id: AccountID
    /// The version of the account's stream.
    var version: Int32
    var password: PasswordHash
    var tokenCount: Int64
    /// `nil` if the account has no token.
    var oldestToken: TokenDigest?
}

/// Signs in a client that proved the password.
func decideSignIn(_ account: Account, token: TokenDigest) -> SignedIn {
    SignedIn(token: token, replaced: account.tokenCount >= Account.tokenLimit ? account.oldestToken : nil)
}

extension String {
    fileprivate var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
