internal import Attendances
internal import Encoding
internal import Events
internal import HTTPServer
internal import HTTPTypes

/// The errors that only this API has, and the rejections of its modules.
extension HTTPError {
    /// 401 with an empty body.
    static let unauthorized = HTTPError(.unauthorized, body: nil)
    static let forbidden = HTTPError(.forbidden, "Forbidden")
    /// 404 with an empty body: the route hides itself.
    static let hidden = HTTPError(.notFound, body: nil)
    /// 422; one line a fault.
    static func invalid(faults: [String]) -> HTTPError {
        HTTPError(
            .unprocessableContent, body: ["message": "Validation Failed", "errors": .array(faults.map(JSON.string))])
    }
    static let keyReused = HTTPError.invalid(faults: ["Idempotency-Key was used for another request"])

    init(_ rejection: EventRejection) {
        self =
            switch rejection {
            case .invalid(let faults): .invalid(faults: faults)
            case .notFound: .notFound
            case .forbidden: .forbidden
            case .changedMeanwhile: .preconditionFailed
            case .keyReused: .keyReused
            }
    }

    init(_ rejection: AttendanceRejection) {
        self =
            switch rejection {
            case .unknownEvent: .notFound
            case .keyReused: .keyReused
            }
    }
}
