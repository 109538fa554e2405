import Encoding
import HTTPServer
import HTTPTypes
import TestDatabase
import Testing
import Yams

@testable import HTTP

@Suite struct `The OpenAPI document` {
    private static func members(_ json: JSON?) -> [JSONObject.Member] {
        if case .object(let object) = json { object.members } else { [] }
    }

    @Test func `the document has exactly the routes that are served`() async throws {
        let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let described = Self.members(OpenAPIDocument.json["paths"]).flatMap { path in
            Self.members(path.value).filter { methods.contains($0.name) }.map { operation in
                "\(operation.name.uppercased()) \(path.name) \(operation.value["operationId"]?.text ?? "")"
            }
        }
        try await TestAPI.with { api in
            let served = api.routes.map { "\($0.method.rawValue) \($0.path) \"\($0.operation)\"" }
            #expect(Set(served) == Set(described))
            #expect(served.count == described.count)
        }
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
        let isEqual = try OpenAPIDocument.file == JSON(root)
        #expect(isEqual, "run make docs NAME=openapi, and build again")
    }

    @Test func `every reference in the document resolves`() throws {
        var missing: [String] = []
        func look(_ json: JSON) {
            switch json {
            case .array(let elements): elements.forEach(look)
            case .object(let object):
                for member in object.members {
                    if member.name == "$ref", case .string(let pointer) = member.value {
                        let target = pointer.split(separator: "/").dropFirst().reduce(Optional(OpenAPIDocument.json)) {
                            $0?[String($1)]
                        }
                        if target == nil { missing.append(pointer) }
                    }
                    look(member.value)
                }
            case .null, .bool, .number, .string: break
            }
        }
        look(OpenAPIDocument.json)
        #expect(missing == [])
    }
}

extension OpenAPIDocument {
    /// The document of a server with all apps.
    static let json = json(serving: .all)
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
