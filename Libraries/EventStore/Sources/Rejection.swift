internal import Postgres

/// Why a command is refused: the caller's mistake, as a module states it. Every other error is internal.
///
/// The kind decides the HTTP status. So a new module needs no edit in HTTP.
public protocol Rejection: Error, Sendable {
    var kind: RejectionKind { get }

    /// The stable name of the reason, for programs, in snake case, if the kind does not name it, as in `event_cancelled`; `nil` for the
    /// name of the kind. `docs/openapi.yaml` lists all.
    var code: String? { get }

    /// The sentence for the caller; `nil` for the usual sentence of the kind. A rejection of the kind `invalid` or `keyReused` has none:
    /// its validation errors are the sentences.
    var message: String? { get }
}

extension Rejection {
    public var code: String? { nil }
    public var message: String? { nil }
}

/// The kinds of rejections. HTTP maps each to one status.
public enum RejectionKind: Sendable, Hashable {
    /// Fields of the request cannot be used: all validation errors at once.
    case invalid(errors: [FieldError])
    /// The caller is not known.
    case unauthorized
    /// The caller is known and may not do this.
    case forbidden
    case notFound
    /// The thing was there and is gone for good.
    case gone
    /// The command contradicts the present state.
    case conflict
    /// The thing has another version than the caller expects.
    case preconditionFailed
    /// The idempotency key was used for another request.
    case keyReused
}

/// An error after which the same request may succeed later, such as a full queue. HTTP answers 503 with `Retry-After`.
public protocol UnavailabilityError: Error, Sendable {}

/// An error of a subscription that no event causes, such as a gap in the log. No stream is parked for it: the subscription stands still until
/// an operator has mended the cause.
public protocol StandstillError: Error, Sendable {}

extension Error {
    /// Whether the same request or event may succeed later.
    package var mayPass: Bool {
        switch self {
        case let error as PostgresError: error.isUnavailability
        case is EventLogError, is ReadModelError, is StreamContended, is any UnavailabilityError: true
        default: false
        }
    }
}

/// The key of a command was used for another request before.
public struct KeyReusedError: Rejection, Hashable, CustomStringConvertible {
    public var kind: RejectionKind { .keyReused }
    public var description: String { "this key was used for another request" }
}

/// A condition of the command's context does not hold any more: the caller is another one than the command says. Nothing was recorded.
public struct FailedConditionError: Rejection, Hashable, CustomStringConvertible {
    public var condition: AppendCondition

    public init(condition: AppendCondition) { self.condition = condition }

    public var kind: RejectionKind { .unauthorized }
    public var description: String { "stream \(condition.stream) does not end with the event \(condition.lastID)" }
}
