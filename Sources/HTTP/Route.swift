internal import HTTPTypes
internal import Hummingbird

/// A route as a value: what the router serves and what the document describes.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, APIContext) async throws -> Response

    var method: HTTPRequest.Method
    /// As in the document: `/v1/events/{id}`.
    var path: String
    /// The document's `operationId`.
    var operation: String
    var handle: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ operation: String, _ handle: @escaping Handler) {
        self.method = method
        self.path = path
        self.operation = operation
        self.handle = handle
    }

    /// Whether a path is of this route's form.
    func matches(path requested: String) -> Bool {
        let own = path.split(separator: "/")
        let requested = requested.split(separator: "/")
        return own.count == requested.count && zip(own, requested).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

extension [Route] {
    /// What may be done at a path; empty where there is nothing. GET brings HEAD along. A path that some route names outright is
    /// not taken for an id, by the router neither.
    func methods(at path: String) -> [HTTPRequest.Method] {
        let matching = filter { $0.matches(path: path) }
        let literal = matching.filter { !$0.path.contains("{") }
        return (literal.isEmpty ? matching : literal).flatMap { $0.method == .get ? [.get, .head] : [$0.method] }
    }
}
