import EventStore
import HTTPTypes
import NIOCore
import Testing

@testable import HTTP
@testable import HTTPServer

@Suite struct `Responding to a rejection` {
    private struct Refused: Rejection {
        var kind: RejectionKind
        var code: String?
        var message: String?
    }

    @Test(
        arguments: [
            (
                .invalid(errors: [.blank("name")]), 422, "validation_failed",
                #"{"message":"Validation Failed","errors":["Name can't be blank"]}"#
            ),
            (.unauthorized, 401, "unauthorized", ""), (.forbidden, 403, "forbidden", #"{"message":"Forbidden"}"#),
            (.notFound, 404, "not_found", #"{"message":"Not Found"}"#), (.gone, 410, "gone", #"{"message":"Gone"}"#),
            (.conflict, 409, "conflict", #"{"message":"Conflict"}"#),
            (.preconditionFailed, 412, "precondition_failed", #"{"message":"Precondition Failed"}"#),
            (
                .keyReused, 422, "idempotency_key_reused",
                #"{"message":"Validation Failed","errors":["Idempotency-Key was used for another request"]}"#
            ),
        ] as [(RejectionKind, Int, String, String)])
    func `the kind of a rejection determines response and code, unless the rejection names its own`(
        kind: RejectionKind, status: Int, code: String, body: String
    ) {
        let error = HTTPError(Refused(kind: kind))
        #expect((error.response.status.code, error.code) == (status, ErrorCode(code)))
        #expect(String(buffer: error.response.body) == body)
        let own = HTTPError(Refused(kind: kind, code: "too_late"))
        #expect(own.code == ErrorCode("too_late"))
    }

    @Test(arguments: [
        ("Event Cancelled", ""), ("Gone", ""), ("Ask the owner", #""detail":"Ask the owner","#),
    ])
    func `problem details have a message that says more than the code and the status`(message: String, detail: String) {
        let rejection = Refused(kind: .gone, code: "event_cancelled", message: message)
        let accept: HTTPFields = [.accept: "application/problem+json"]
        let request = Request(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/", headerFields: accept))
        let response = ProblemDetails(typePrefix: "/docs#error-")
            .response(to: request, HTTPError(rejection), requestID: "r-1")
        #expect(
            String(buffer: response.body)
                == #"{"type":"/docs#error-event_cancelled","title":"Event cancelled","status":410,"code":"event_cancelled",\#(detail)"request_id":"r-1"}"#
        )
    }
}
