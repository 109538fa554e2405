import Foundation
import TestDatabase
import Testing
import Yams

@testable import HumonClient

@Suite struct `The errors of the client` {
    private struct Code: Sendable {
        var name: String
        var status: Int
    }

    /// The codes of the OpenAPI document, or its codes of fields.
    private static func codes() throws -> [Code] {
        let document = try #require(try Yams.load(yaml: Repository.text("docs/openapi.yaml")) as? [String: Any])
        let schemas = try #require((document["components"] as? [String: Any])?["schemas"] as? [String: Any])
        let list = try #require((schemas["ErrorCode"] as? [String: Any])?["x-codes"] as? [[String: Any]])
        return list.compactMap { entry in
            guard let name = entry["const"] as? String, let status = entry["x-status"] as? Int else { return nil }
            return Code(name: name, status: status)
        }
    }

    /// The name of the case, such as `notFound`.
    private static func kind(_ error: HumonError) -> String {
        Mirror(reflecting: error).children.first?.label ?? "\(error)"
    }

    private static let kinds = [
        "malformed_request": "malformedRequest", "malformed_body": "malformedRequest", "malformed_query": "malformedRequest",
        "malformed_position": "malformedRequest", "malformed_idempotency_key": "malformedRequest",
        "unauthorized": "unauthorized", "wrong_credentials": "wrongCredentials", "forbidden": "forbidden",
        "not_found": "notFound", "method_not_allowed": "malformedRequest", "request_timeout": "requestTimedOut",
        "conflict": "conflict", "gone": "gone", "event_cancelled": "eventCancelled", "event_hidden": "eventHidden",
        "precondition_failed": "versionChanged", "content_too_large": "tooLarge", "target_too_long": "tooLarge",
        "unsupported_media_type": "malformedRequest", "expectation_failed": "malformedRequest",
        "validation_failed": "validationFailed", "idempotency_key_reused": "idempotencyKeyReused",
        "too_many_requests": "tooManyRequests", "headers_too_large": "tooLarge", "internal_server_error": "serverFailed",
        "not_implemented": "malformedRequest", "database_unavailable": "unavailable", "overloaded": "unavailable",
        "response_timeout": "unavailable", "position_not_reached": "positionNotReached", "index_not_in_use": "indexNotInUse",
        "stopping": "unavailable", "version_not_supported": "malformedRequest",
    ]

    @Test func `every code of the API is the case of its meaning`() throws {
        let codes = try Self.codes()
        #expect(Set(codes.map(\.name)) == Set(Self.kinds.keys))
        for code in codes {
            let problem = Problem(code: code.name, status: code.status)
            let error = HumonError(problem)
            #expect(Self.kind(error) == Self.kinds[code.name], "\(code)")
            #expect(error.problem == problem)
        }
    }

    @Test(arguments: [
        (302, "unexpected"), (304, "unexpected"), (400, "malformedRequest"), (401, "unauthorized"), (404, "notFound"),
        (410, "gone"), (418, "malformedRequest"), (422, "validationFailed"), (429, "tooManyRequests"), (500, "serverFailed"),
        (502, "unavailable"), (503, "unavailable"), (504, "unavailable"), (599, "serverFailed"),
    ])
    func `an unknown code is the case of its status`(status: Int, kind: String) {
        for code in ["", "code_of_a_later_version"] {
            #expect(Self.kind(HumonError(Problem(code: code, status: status))) == kind)
        }
    }

    @Test func `problem details are read with fields, request id and pause`() {
        let body = """
            {"type":"/docs#error-validation_failed","title":"Validation failed","status":422,"code":"validation_failed",
             "errors":[{"pointer":"/lat","code":"out_of_range","detail":"Lat must be between -90 and 90"}],"request_id":"app-8"}
            """
        let head = ResponseHead(
            status: 422, fields: ["Content-Type": "application/problem+json", "Retry-After": "7", "X-Request-Id": "other"])
        let problem = Problem(head, body: Data(body.utf8))
        #expect(problem.code == "validation_failed" && problem.status == 422 && problem.requestID == "app-8")
        #expect(problem.retryAfterSeconds == 7)
        #expect(problem.error(at: "/lat")?.code == "out_of_range")
        #expect(problem.error(at: "/lon") == nil)
        #expect(
            HumonError(problem).errorDescription
                == "422 validation_failed: /lat: Lat must be between -90 and 90 (request app-8)")
    }

    @Test(arguments: [
        ("text/html", "<html>"), ("application/problem+json", "{"), ("application/problem+json", "{}"),
        ("application/json", #"{"code":"not_found","title":"","request_id":""}"#),
    ])
    func `another body leaves the status and the request id of the header`(type: String, body: String) {
        let head = ResponseHead(status: 503, fields: ["content-type": type, "x-request-id": "r", "retry-after": "soon"])
        let problem = Problem(head, body: Data(body.utf8))
        #expect(problem == Problem(code: "", status: 503, requestID: "r"))
        #expect(HumonError(problem) == .unavailable(problem))
    }

    @Test func `an error may pass if the same request may succeed later`() {
        let problem = Problem(code: "", status: 0)
        let passing: [HumonError] = [
            .tooManyRequests(problem), .requestTimedOut(problem), .unavailable(problem), .positionNotReached(problem),
            .indexNotInUse(problem), .serverFailed(problem), .connectionFailed(.timedOut), .connectionFailed(.unknown),
        ]
        let lasting: [HumonError] = [
            .malformedRequest(problem), .validationFailed(problem), .unauthorized(problem), .notFound(problem),
            .versionChanged(problem), .unexpected(problem), .notSignedUp, .erasing(id: "7"), .unusableResponse(""),
            .unusableValue(""),
            .connectionFailed(.serverCertificateUntrusted), .tooManyEvents(limit: 1),
        ]
        for error in passing { #expect(error.mayPass, "\(error)") }
        for error in lasting { #expect(!error.mayPass, "\(error)") }
    }
}

@Suite struct `The policy of repetitions` {
    private static let unavailable = HumonError.unavailable(Problem(code: "", status: 503))

    private static func pause(
        _ error: HumonError = unavailable, attempt: Int = 1, isRepeatable: Bool = true, chance: Double = 1
    ) -> Duration? {
        RetryPolicy.standard.pause(after: error, attempt: attempt, isRepeatable: isRepeatable, chance: chance)
    }

    @Test func `the pause doubles up to the longest, and chance takes at most half of it`() {
        #expect((1...3).map { Self.pause(attempt: $0) } == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(Self.pause(chance: 0) == .milliseconds(250))
        let patient = RetryPolicy(attempts: 100)
        #expect(patient.pause(after: Self.unavailable, attempt: 99, isRepeatable: true, chance: 1) == .seconds(8))
    }

    @Test func `the last attempt has no further one`() {
        #expect(Self.pause(attempt: 4) == nil)
        #expect(RetryPolicy.never.pause(after: Self.unavailable, attempt: 1, isRepeatable: true, chance: 1) == nil)
    }

    @Test func `the pause that the server asks for counts, unless it is too long`() {
        func error(_ seconds: Double) -> HumonError {
            .tooManyRequests(Problem(code: "", status: 429, retryAfterSeconds: seconds))
        }
        #expect(Self.pause(error(3)) == .seconds(3))
        #expect(Self.pause(error(8)) == .seconds(8))
        #expect(Self.pause(error(9)) == nil)
    }

    @Test func `an error that does not pass is not repeated`() {
        #expect(Self.pause(.notFound(Problem(code: "", status: 404))) == nil)
        #expect(Self.pause(.connectionFailed(.serverCertificateUntrusted)) == nil)
    }

    @Test func `a write without a key is repeated only if the server did not carry it out`() {
        for error in [Self.unavailable, .connectionFailed(.timedOut), .serverFailed(Problem(code: "", status: 500))] {
            #expect(Self.pause(error, isRepeatable: false) == nil, "\(error)")
        }
        for error in [.tooManyRequests(Problem(code: "", status: 429)), HumonError.connectionFailed(.cannotConnectToHost)] {
            #expect(Self.pause(error, isRepeatable: false) != nil, "\(error)")
        }
    }
}
