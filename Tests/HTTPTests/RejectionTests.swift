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

    @Test func `a rejection may have a message of its own`() {
        let response = HTTPError(Refused(kind: .gone, message: "Event Cancelled")).response
        #expect((response.status.code, String(buffer: response.body)) == (410, #"{"message":"Event Cancelled"}"#))
    }
}
