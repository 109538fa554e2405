import Encoding
import HTTPServer
import HTTPTypes
import TestDatabase
import Testing
import Yams

@testable import HTTP

@Suite struct `The OpenAPI document` {
    private static let methods = ["get", "put", "post", "delete", "patch"]
    private static let operations = (OpenAPIDocument.json["paths"]?.members ?? []).flatMap { path in
        path.value.members.filter { methods.contains($0.name) }.map {
            (name: "\($0.name.uppercased()) \(path.name) \($0.value["operationId"]?.string ?? "")", operation: $0.value)
        }
    }

    private static func references(_ json: JSON) -> Set<String> {
        var found = Set(json.elements.flatMap(references) + json.members.flatMap { references($0.value) })
        if let target = json["$ref"]?.string { found.insert(target) }
        return found
    }

    @Test func `the document has exactly the routes that are served, each under a tag of its own`() async throws {
        try await TestAPI.with { api in
            let served = api.routes.map { "\($0.method.rawValue) \($0.path) \($0.operation)" }
            #expect(served.sorted() == Self.operations.map(\.name).sorted())
        }
        let tags = Set((OpenAPIDocument.json["tags"]?.elements ?? []).compactMap { $0["name"] })
        #expect(tags == Set(Self.operations.flatMap { $0.operation["tags"]?.elements ?? [] }))
    }

    @Test func `the document is OpenAPI 3.1 and is served as JSON`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/v1/openapi.json")
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "application/json; charset=utf-8")
            #expect(answer.json == OpenAPIDocument.json)
            #expect(answer.json?["openapi"] == "3.1.0")
        }
    }

    @Test func `the document in the program is docs/openapi.yaml`() throws {
        let root = try #require(try Yams.compose(yaml: Repository.text("docs/openapi.yaml")))
        let isEqual = try OpenAPIDocument.json == JSON(root)
        #expect(isEqual, "run make docs NAME=openapi, and build again")
    }

    @Test func `the document refers to everything that it has, and to nothing else`() {
        let document = OpenAPIDocument.json
        let components = (document["components"]?.members ?? []).filter { $0.name != "securitySchemes" }.flatMap { kind in
            kind.value.members.map { "#/components/\(kind.name)/\($0.name)" }
        }
        #expect(Self.references(document) == Set(components))
        let schemes = Set((document["components"]?["securitySchemes"]?.members ?? []).map(\.name))
        let required =
            Self.operations.flatMap { $0.operation["security"]?.elements ?? [] } + (document["security"]?.elements ?? [])
        #expect(Set(required.flatMap { $0.members.map(\.name) }) == schemes)
        let ids = Set(Self.operations.compactMap { $0.operation["operationId"] })
        for (name, operation) in Self.operations {
            for answer in operation["responses"]?.members ?? [] {
                for link in answer.value["links"]?.members ?? [] {
                    let target = OpenAPIDocument.resolved(link.value)?["operationId"]
                    #expect(target.map(ids.contains) == true, "\(name): \(link.name)")
                }
            }
        }
    }
}

/// Why YAML is not JSON.
private struct YAMLAlias: Error {}

extension JSON {
    fileprivate init(_ node: Node) throws {
        switch node {
        case .mapping(let mapping):
            let members = try mapping.map { key, value in JSONObject.Member(name: key.string ?? "", value: try JSON(value)) }
            self = .object(JSONObject(members: members))
        case .sequence(let sequence): self = .array(try sequence.map { try JSON($0) })
        case .scalar(let scalar): self = JSON(scalar)
        case .alias: throw YAMLAlias()
        }
    }

    /// Source: YAML 1.2, core schema.
    private init(_ scalar: Node.Scalar) {
        switch scalar.string {
        case _ where scalar.style != .plain: self = .string(scalar.string)
        case "", "null", "~": self = .null
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        case let text where Double(parsing: text)?.isFinite == true: self = .number(text)
        case let text: self = .string(text)
        }
    }
}
