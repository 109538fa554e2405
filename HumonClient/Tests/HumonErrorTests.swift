import Foundation
import Testing

@testable import HumonClient

extension HumonError {
    fileprivate static func refused(status: Int, retryAfterSeconds: Double? = nil) -> HumonError {
        .refused(Problem(code: Problem.Code(rawValue: ""), status: status, retryAfterSeconds: retryAfterSeconds))
    }
}

@Suite struct `The errors of the client` {
    @Test func `problem details are read with fields, request id and pause`() {
        let body = """
            {"type":"/docs#error-validation_failed","title":"Validation failed","status":422,"code":"validation_failed",
             "errors":[{"pointer":"/lat","code":"out_of_range","detail":"Lat must be between -90 and 90"}],"request_id":"app-8"}
            """
        let head = ResponseHead(
            status: 422, fields: ["Content-Type": "application/problem+json", "Retry-After": "7", "X-Request-Id": "other"])
        let problem = Problem(head, body: Data(body.utf8))
        #expect(problem.code == .validationFailed && problem.status == 422 && problem.requestID == "app-8")
        #expect(problem.retryAfterSeconds == 7)
        #expect(problem.error(at: "/lat")?.code == "out_of_range")
        #expect(problem.error(at: "/lon") == nil)
        #expect(
            HumonError.refused(problem).errorDescription
                == "422 validation_failed: /lat: Lat must be between -90 and 90 (request app-8)")
    }

    @Test(arguments: [
        ("text/html", "<html>"), ("application/problem+json", "{"), ("application/problem+json", "{}"),
        ("application/json", #"{"code":"not_found","title":"","request_id":""}"#),
    ])
    func `another body leaves the status and the request id of the header`(type: String, body: String) {
        let head = ResponseHead(status: 503, fields: ["content-type": type, "x-request-id": "r", "retry-after": "soon"])
        let problem = Problem(head, body: Data(body.utf8))
        #expect(problem == Problem(code: Problem.Code(rawValue: ""), status: 503, requestID: "r"))
    }

    @Test func `an error may pass if the same request may succeed later`() {
        let passing: [HumonError] =
            [408, 429, 500, 502, 503, 504, 520].map { .refused(status: $0) } + [
                .connectionFailed(.timedOut), .connectionFailed(.unknown),
            ]
        let lasting: [HumonError] =
            [302, 304, 400, 401, 403, 404, 409, 410, 412, 413, 422, 501, 505, 506, 508, 510, 511].map { .refused(status: $0) } + [
                .notSignedUp, .erasing(id: "7"), .unusableResponse(""), .unusableValue(""), .tooManyEvents(limit: 1),
                .connectionFailed(.serverCertificateUntrusted),
            ]
        for error in passing { #expect(error.mayPass, "\(error)") }
        for error in lasting { #expect(!error.mayPass, "\(error)") }
    }
}

@Suite struct `The policy of repetitions` {
    private static let unavailable = HumonError.refused(status: 503)

    private static func pause(
        _ error: HumonError = unavailable, attempt: Int = 1, isRepeatable: Bool = true, chance: Double = 1
    ) -> Duration? {
        RetryPolicy.standard.pause(after: error, attempt: attempt, isRepeatable: isRepeatable, chance: chance)
    }

    @Test func `the pause doubles up to the longest, and chance takes at most half of it`() {
        #expect((1...4).map { Self.pause(attempt: $0) } == [.milliseconds(500), .seconds(1), .seconds(2), nil])
        #expect(Self.pause(chance: 0) == .milliseconds(250))
        let patient = RetryPolicy(attempts: 100)
        #expect(patient.pause(after: Self.unavailable, attempt: 99, isRepeatable: true, chance: 1) == .seconds(8))
        #expect(RetryPolicy.never.pause(after: Self.unavailable, attempt: 1, isRepeatable: true, chance: 1) == nil)
    }

    @Test func `the error decides whether a request is repeated, and the server's pause counts unless it is too long`() {
        func asked(_ seconds: Double) -> HumonError { .refused(status: 429, retryAfterSeconds: seconds) }
        // A write without a key is repeated only if the server did not carry it out.
        let table: [(error: HumonError, isRepeatable: Bool, pause: Duration?)] = [
            (asked(3), true, .seconds(3)), (asked(8), true, .seconds(8)), (asked(9), true, nil),
            (.refused(status: 404), true, nil), (.connectionFailed(.serverCertificateUntrusted), true, nil),
            (Self.unavailable, false, nil), (.connectionFailed(.timedOut), false, nil), (.refused(status: 500), false, nil),
            (.refused(status: 429), false, .milliseconds(500)),
            (.connectionFailed(.cannotConnectToHost), false, .milliseconds(500)),
        ]
        for (error, isRepeatable, pause) in table {
            #expect(Self.pause(error, isRepeatable: isRepeatable) == pause, "\(error), \(isRepeatable)")
        }
    }
}
