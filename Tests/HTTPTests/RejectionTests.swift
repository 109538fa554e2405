import EventStore
import HTTPTypes
import NIOCore
import Testing

@testable import HTTP
@testable import HTTPServer

@Suite struct `Responding to a rejection` {
    private struct Refused: Rejection {
        var kind: RejectionKind
        var code: RejectionCode?
        var message: String?
    }

    @Test(
        arguments: [
            (
                .invalid(errors: [.blank("name")]), 422,
                #"{"message":"Validation Failed","errors":["Name can't be blank"]}"#
            ),
            (.unauthorized, 401, ""),
            (.forbidden, 403, #"{"message":"Forbidden"}"#),
            (.notFound, 404, #"{"message":"Not Found"}"#),
            (.gone, 410, #"{"message":"Gone"}"#),
            (.conflict, 409, #"{"message":"Conflict"}"#),
            (.preconditionFailed, 412, #"{"message":"Precondition Failed"}"#),
            (
                .keyReused, 422, #"{"message":"Validation Failed","errors":["Idempotency-Key was used for another request"]}"#
            ),
        ] as [(RejectionKind, Int, String)])
    func `the kind of a rejection determines the response`(kind: RejectionKind, status: Int, body: String) {
        let response = HTTPError(Refused(kind: kind)).response
        #expect(response.status.code == status)
        #expect(String(buffer: response.body) == body)
    }

    @Test(
        arguments: [
            (.invalid(errors: [.blank("name")]), "validation_failed"), (.unauthorized, "unauthorized"),
            (.forbidden, "forbidden"), (.notFound, "not_found"), (.gone, "gone"), (.conflict, "conflict"),
            (.preconditionFailed, "precondition_failed"), (.keyReused, "idempotency_key_reused"),
        ] as [(RejectionKind, String)])
    func `the kind of a rejection determines the code, unless the rejection names one`(kind: RejectionKind, code: String) {
        #expect(HTTPError(Refused(kind: kind)).code == ErrorCode(code))
        #expect(HTTPError(Refused(kind: kind, code: RejectionCode("too_late"))).code == ErrorCode("too_late"))
    }

    @Test(arguments: [
        ("Event Cancelled", ""), ("Gone", ""), ("Ask the owner", #""detail":"Ask the owner","#),
    ])
    func `problem details have a message that says more than the code and the status`(message: String, detail: String) {
        let rejection = Refused(kind: .gone, code: RejectionCode("event_cancelled"), message: message)
        let accept: HTTPFields = [.accept: "application/problem+json"]
        let request = Request(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/", headerFields: accept))
        let response = ProblemDetails(typePrefix: "/docs#error-")
            .response(to: request, HTTPError(rejection), requestID: "r-1")
        #expect(
            String(buffer: response.body)
                == #"{"type":"/docs#error-event_cancelled","title":"Event cancelled","status":410,"code":"event_cancelled",\#(detail)"request_id":"r-1"}"#
        )
    }

    @Test func `a rejection may have a message of its own`() {
        let response = HTTPError(Refused(kind: .gone, message: "Event Cancelled")).response
        #expect((response.status.code, String(buffer: response.body)) == (410, #"{"message":"Event Cancelled"}"#))
    }
}
