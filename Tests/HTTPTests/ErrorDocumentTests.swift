import Encoding
import EventStore
import HTTPTypes
import Testing

@testable import HTTP
@testable import HTTPServer

/// A rule of scripts/lint compares the document with the codes of the sources.
@Suite struct `The errors in the OpenAPI document` {
    @Test func `every code of a field is in the document, and no other`() {
        let schema = OpenAPIDocument.json["components"]?["schemas"]?["FieldErrorCode"]
        let documented = (schema?["x-codes"]?.elements ?? []).compactMap { $0["const"]?.string }
        #expect(documented.sorted() == FieldError.Code.allCases.map(\.rawValue).sorted())
    }
}

extension TestAPI {
    /// Expects that the document has the status of a route's response, with its media type.
    func expectDocumented(_ method: HTTPRequest.Method, _ target: String, _ answer: Answer) {
        let path = Request(head: HTTPRequest(method: method, scheme: nil, authority: nil, path: target)).path
        let suffix = ".json"
        let known = path.hasSuffix(suffix) && path != "/v1/openapi.json" ? path.dropLast(suffix.count) : path
        guard let match = RouteTable(routes).match(method, known) else { return }
        let route = routes[match.index]
        let operation = OpenAPIDocument.json["paths"]?[route.path]?[route.method.rawValue.lowercased()]
        guard let response = operation?["responses"]?["\(answer.status)"] else {
            Issue.record("the document has no \(answer.status) for \(route.method) \(route.path)")
            return
        }
        guard let type = answer.header("content-type")?.split(separator: ";").first else { return }
        let content = OpenAPIDocument.resolved(response)?["content"]
        #expect(content?[String(type)] != nil, "\(answer.status) for \(route.method) \(route.path) as \(type)")
    }
}
