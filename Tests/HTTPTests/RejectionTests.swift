import EventStore
import HTTPTypes
import NIOCore
import Testing

@testable import HTTP
@testable import HTTPServer

@Suite struct `A rejection of a module` {
    private struct Refused: Rejection {
        var kind: RejectionKind
        var message: String?
    }

    @Test(
        arguments: [
            (
                .invalid(errors: ["Name can't be blank"]), 422,
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
    func `is answered by its kind alone`(kind: RejectionKind, status: Int, body: String) {
        let response = HTTPError(Refused(kind: kind)).response
        #expect(response.status.code == status)
        #expect(String(buffer: response.body) == body)
    }

    @Test func `may bring a message of its own`() {
        let response = HTTPError(Refused(kind: .gone, message: "Event Cancelled")).response
        #expect((response.status.code, String(buffer: response.body)) == (410, #"{"message":"Event Cancelled"}"#))
    }
}
