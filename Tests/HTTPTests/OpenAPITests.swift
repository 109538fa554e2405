import Encoding
import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `The OpenAPI document` {
    private static let methods = ["get", "put", "post", "delete", "patch"]
    private static let operations = (OpenAPIDocument.json["paths"]?.members ?? []).flatMap { path in
        path.value.members.filter { methods.contains($0.name) }.map {
            (name: "\($0.name.uppercased()) \(path.name) \($0.value["operationId"]?.string ?? "")", operation: $0.value)
        }
    }

    @Test func `the document has exactly the routes that are served, each under a tag of its own`() async throws {
        try await TestAPI.with { api in
            let served = api.routes.map { "\($0.method.rawValue) \($0.path) \($0.operation)" }
            #expect(served.sorted() == Self.operations.map(\.name).sorted())
        }
        let tags = Set((OpenAPIDocument.json["tags"]?.elements ?? []).compactMap { $0["name"] })
        #expect(tags == Set(Self.operations.flatMap { $0.operation["tags"]?.elements ?? [] }))
    }

    @Test(.api()) func `the document is OpenAPI 3.1 and is served as JSON`() async throws {
        let answer = try await api.send(.get, "/v1/openapi.json")
        #expect(answer.status == 200)
        #expect(answer.header("content-type") == "application/json; charset=utf-8")
        #expect(answer.json == OpenAPIDocument.json)
        #expect(answer.json?["openapi"] == "3.1.0")
    }
}
