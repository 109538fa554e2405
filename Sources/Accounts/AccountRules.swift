public import Encoding
public import EventStore

/// Create an account, from the fields of the request. They can contain a password.
public struct SignUp: Sendable, Redacted {
    /// The longest name, in Unicode scalars.
    static let nameLimit = 255

    private let fields: JSON

    public init(_ fields: JSON) { self.fields = fields }

    /// Says nothing about accounts that exist, so that only a sign-up without an error learns whether its address is taken.
    /// - Returns: the usable fields
    /// - Throws: ``AccountRejection/invalid(errors:)`` with all validation errors
    func validated() throws(AccountRejection) -> (name: String?, email: EmailAddress, password: Password) {
        var errors: [FieldError] = []
        let name = errors.text(fields["name"], "name", limit: Self.nameLimit, at: "/user/name")
        let email = fields["email"]?.storedString.flatMap { EmailAddress($0) }
        switch fields["email"] {
        case nil, .null: errors.append(.blank("email", at: "/user/email"))
        case .string(let text) where text.isBlank: errors.append(.blank("email", at: "/user/email"))
        case _ where email == nil:
            errors.append(FieldError("email", .notAnEmailAddress, "is invalid", at: "/user/email"))
        case _: break
        }
        let password = Password.new(fields["password"], &errors)
        guard errors.isEmpty, let email, let password else { throw .invalid(errors: errors) }
        return (name, email, password)
    }
}

/// Prove an account's password and get a token.
public struct SignIn: Sendable {
    /// `nil` for a text that is no address: no account has it.
    public var email: EmailAddress?
    /// `nil` for a text that is too long: no account has it.
    var password: Password?

    /// Reads what the client sent. A field that is missing or no text is wrong like any other wrong address or password.
    public init(_ fields: JSON?) {
        email = fields?["email"]?.storedString.flatMap { EmailAddress($0) }
        password = Password(fields?["password"]?.storedString ?? "")
    }
}

/// Give an account another password.
public struct ChangePassword: Sendable {
    /// `nil` for a text that is too long: no account has it.
    var current: Password?
    var new: Password

    /// - Parameter fields: `current_password` and `password`
    /// - Throws: ``AccountRejection/invalid(errors:)`` with all validation errors
    public init(_ fields: JSON?) throws(AccountRejection) {
        var errors: [FieldError] = []
        current = Password.current(fields?["current_password"], &errors)
        let new = Password.new(fields?["password"], &errors)
        guard errors.isEmpty, let new else { throw .invalid(errors: errors) }
        self.new = new
    }
}

/// Erase an account.
public struct EraseAccount: Sendable {
    /// `nil` for a text that is too long: no account has it.
    var current: Password?

    /// - Parameter fields: `current_password`
    /// - Throws: ``AccountRejection/invalid(errors:)`` without a password
    public init(_ fields: JSON?) throws(AccountRejection) {
        var errors: [FieldError] = []
        current = Password.current(fields?["current_password"], &errors)
        guard errors.isEmpty else { throw .invalid(errors: errors) }
    }
}

extension Password {
    /// Reads the field `current_password`. Adds the validation error of a missing one.
    /// - Returns: `nil` also for a text that is too long, which is a wrong password
    fileprivate static func current(_ field: JSON?, _ errors: inout [FieldError]) -> Password? {
        guard case .string(let text)? = field, !text.isEmpty else {
            errors.append(.blank("current_password", at: "/user/current_password"))
            return nil
        }
        return Password(text)
    }

    /// Reads the field `password` with the password that an account is to have. Adds its validation errors.
    fileprivate static func new(_ field: JSON?, _ errors: inout [FieldError]) -> Password? {
        let pointer = "/user/password"
        switch field {
        case nil, .null, .string(""): errors.append(.blank("password", at: pointer))
        case .string(let text):
            guard let password = Password(text) else {
                errors.append(.tooLong("password", maximum: lengths.upperBound, "characters", at: pointer))
                return nil
            }
            if password.length < lengths.lowerBound {
                let words = "is too short (minimum is \(lengths.lowerBound) characters)"
                errors.append(FieldError("password", .tooShort, words, at: pointer))
            }
            return password
        case .bool, .number, .array, .object: errors.append(.notAText("password", at: pointer))
        }
        return nil
    }
}

/// Why a command on accounts is refused.
public enum AccountRejection: Rejection, Hashable {
    case invalid(errors: [FieldError])
    /// The address or the password is wrong; the client does not learn which.
    case wrongCredentials
    case unknownToken
    /// No account has this id or this address. Only operators learn it.
    case unknownAccount

    static let taken = AccountRejection.invalid(
        errors: [FieldError("email", .taken, "has already been taken", at: "/user/email")])
    static let wrongCurrentPassword = AccountRejection.invalid(
        errors: [FieldError("current_password", .incorrect, "is invalid", at: "/user/current_password")])

    public var kind: RejectionKind {
        switch self {
        case .invalid(let errors): .invalid(errors: errors)
        case .wrongCredentials, .unknownToken: .unauthorized
        case .unknownAccount: .notFound
        }
    }

    public var code: String? {
        switch self {
        case .wrongCredentials: "wrong_credentials"
        case .invalid, .unknownToken, .unknownAccount: nil
        }
    }

    public var message: String? {
        switch self {
        case .wrongCredentials: "Invalid email or password"
        case .invalid, .unknownToken, .unknownAccount: nil
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
