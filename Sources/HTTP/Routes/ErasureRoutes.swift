internal import Encoding
internal import EventStore
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Users

extension API {
    /// Served with every app: the erased person may belong to any.
    var erasureRoutes: [Route] { [Route(.get, "/v1/erasures/{id}", "getErasure", getErasure)] }

    /// Needs no token, because the erasure has ended it. The id cannot be guessed.
    private func getErasure(_ request: Request, _ context: RequestContext) async throws -> Response {
        let erasure = try await known(to: subscriber(request, context)) { () async throws -> PersonErasure? in
            guard let id = UUID(uuidString: String(context.parameter)) else { return nil }
            return try await users.erasures.erasure(id)
        }
        guard let erasure else { throw HTTPError.notFound }
        var response = Response(json: ["state": .string(erasure.end == nil ? "erasing" : "erased")])
        if erasure.end == nil { response.headers[.retryAfter] = String(HTTPError.retryAfterSeconds) }
        return response
    }

    /// The response to the request for an erasure. 202 says that something of the person is left, and where to ask for its end.
    func response(_ erasure: PersonErasure) async -> Response {
        var response = await response(
            [:], status: erasure.end == nil ? .accepted : .ok, recordedAt: erasure.end ?? erasure.position)
        guard erasure.end == nil else { return response }
        response.headers[.location] = "/v1/erasures/\(erasure.id.uuidString.lowercased())"
        response.headers[.retryAfter] = String(HTTPError.retryAfterSeconds)
        return response
    }
}
