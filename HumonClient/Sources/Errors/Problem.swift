internal import Foundation

/// The reason of a refusal, as the server gives it (RFC 9457).
public struct Problem: Sendable, Hashable {
    /// The stable reason of a refusal. The page `/docs` of a server lists all of them; more may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Fields are missing or unusable. ``Problem/errors`` lists all of them, for the fields of a form.
        public static let validationFailed = Code(rawValue: "validation_failed")
        /// The token is unknown, replaced or revoked. ``HumonAPI/forgetDevice()`` and a sign-up make a new user of the device.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The caller does not own the event.
        public static let forbidden = Code(rawValue: "forbidden")
        /// The event does not exist, or is hidden. At a sign-up: the app's secret is missing or wrong. At a return: that, or no user has
        /// this pass.
        public static let notFound = Code(rawValue: "not_found")
        /// The owner cancelled the event.
        public static let eventCancelled = Code(rawValue: "event_cancelled")
        /// An operator hides the event. Only its owner gets this error.
        public static let eventHidden = Code(rawValue: "event_hidden")
        /// The event has another version than the caller named. Read it, and decide again.
        public static let versionChanged = Code(rawValue: "precondition_failed")
        /// The idempotency key belongs to another request. Use a new key for a new intent.
        public static let idempotencyKeyReused = Code(rawValue: "idempotency_key_reused")
        /// The client sends too many requests. ``Problem/retryAfterSeconds`` says when to try again.
        public static let tooManyRequests = Code(rawValue: "too_many_requests")
        /// The server has not reached the position of this client's last write.
        static let positionNotReached = Code(rawValue: "position_not_reached")
    }

    /// A field of the request that the server cannot use.
    public struct FieldError: Sendable, Hashable, Decodable {
        /// The place of the field, as a JSON Pointer (RFC 6901): `/started_at`.
        public var pointer: String
        /// The stable reason, such as `blank` or `out_of_range`. More reasons may come.
        public var code: String
        /// A sentence for people, which may change.
        public var detail: String

        public init(pointer: String, code: String, detail: String) {
            self.pointer = pointer
            self.code = code
            self.detail = detail
        }
    }

    /// Empty if the response had none, for example one of a proxy.
    public var code: Code
    /// The status of the response.
    public var status: Int
    /// The code in words.
    public var title: String
    /// More about this occurrence, for people.
    public var detail: String?
    /// Every unusable field, of a validation error.
    public var errors: [FieldError]
    /// Names the request in the server's log.
    public var requestID: String?
    /// Seconds to wait before the next attempt, if the server names them.
    public var retryAfterSeconds: Double?

    public init(
        code: Code, status: Int, title: String = "", detail: String? = nil, errors: [FieldError] = [],
        requestID: String? = nil, retryAfterSeconds: Double? = nil
    ) {
        self.code = code
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
        self.requestID = requestID
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The error of a field of the body, such as `/name`.
    public func error(at pointer: String) -> FieldError? { errors.first { $0.pointer == pointer } }
}

extension Problem {
    private struct Body: Decodable {
        var code: String
        var title: String
        var detail: String?
        var errors: [FieldError]?
        var requestID: String?

        private enum CodingKeys: String, CodingKey {
            case code, title, detail, errors
            case requestID = "request_id"
        }
    }

    /// Reads problem details. Another body, such as the page of a proxy, leaves only the status.
    init(_ head: ResponseHead, body: Data) {
        let isProblem = head["content-type"]?.hasPrefix("application/problem+json") ?? false
        let body = isProblem ? try? JSONDecoder().decode(Body.self, from: body) : nil
        self.init(
            code: Code(rawValue: body?.code ?? ""), status: head.status, title: body?.title ?? "", detail: body?.detail,
            errors: body?.errors ?? [], requestID: body?.requestID ?? head["x-request-id"],
            retryAfterSeconds: head["retry-after"].flatMap { Double($0) }.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil })
    }
}

extension Problem: CustomStringConvertible {
    public var description: String {
        let reasons = errors.isEmpty ? detail.map { [$0] } ?? [] : errors.map { "\($0.pointer): \($0.detail)" }
        let head = ["\(status)", code.rawValue.isEmpty ? title : code.rawValue].filter { !$0.isEmpty }.joined(separator: " ")
        let request = requestID.map { " (request \($0))" } ?? ""
        return ([head] + reasons).joined(separator: ": ") + request
    }
}
