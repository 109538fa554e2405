internal import Encoding
internal import HTTPTypes
internal import NIOCore

/// Errors as problem details, for clients that ask for them by `Accept`. Source: RFC 9457.
struct ProblemDetails: Sendable {
    static let mediaType = "application/problem+json"
    private static let plainMediaType = "application/json"

    /// The URI of a problem type is this text and the code. `nil` if no page describes the codes.
    var typePrefix: String?

    /// Whether a client with this `Accept` gets problem details. It must name their media type: a client that accepts any type gets the
    /// plain body. Source: RFC 9110, section 12.5.1.
    static func areWanted(_ accept: String?) -> Bool {
        let accepted = AcceptedWeights(accept)
        guard let weight = accepted[mediaType], weight > 0 else { return false }
        return weight >= accepted[plainMediaType] ?? accepted["application/*"] ?? accepted["*/*"] ?? 0
    }

    /// The response to an error, in the form that the client asks for.
    func response(to request: Request, _ error: HTTPError, requestID: String) -> Response {
        let isError = error.status.kind == .clientError || error.status.kind == .serverError
        guard isError, request.wantsProblemDetails else { return error.response }
        var response = Response(status: error.status, json: .object(JSONObject(members: members(of: error, requestID))))
        response.headers[.contentType] = Self.mediaType
        response.headers.append(HTTPField(name: .vary, value: "Accept"))
        response.headers.append(contentsOf: error.headers)
        return response
    }

    private func members(of error: HTTPError, _ requestID: String) -> [JSONObject.Member] {
        let title = typePrefix == nil ? error.status.reasonPhrase : error.code.title
        let isSaid = [title, error.status.reasonPhrase].contains { $0.lowercased() == error.detail?.lowercased() }
        let all: [(name: String, value: JSON?)] = [
            ("type", .string(typePrefix.map { $0 + error.code.description } ?? "about:blank")),
            ("title", .string(title)),
            ("status", JSON(error.status.code)),
            ("code", .string(error.code.description)),
            ("detail", isSaid ? nil : error.detail.map(JSON.string)),
        ]
        return all.compactMap { member in member.value.map { JSONObject.Member(name: member.name, value: $0) } }
            + error.extensions.members + [JSONObject.Member(name: "request_id", value: .string(requestID))]
    }
}

extension Request {
    /// Whether the client asks for problem details, as no client of before RFC 9457 does.
    public var wantsProblemDetails: Bool { ProblemDetails.areWanted(headers.value(of: .accept)) }
}
