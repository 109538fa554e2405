import Encoding
import EventStore
import Foundation
import HTTPTypes
import TestDatabase
import Testing

@testable import HTTP
@testable import HTTPServer

@Suite struct `The errors in the OpenAPI document` {
    private static let codes = OpenAPIDocument.codes("ErrorCode")
    private static let responses = OpenAPIDocument.json["components"]?["responses"]?.members ?? []

    /// The codes that the sources name: as literals, and by the statuses of errors without a code of their own.
    private static func codesInSources() throws -> Set<String> {
        let files = ["Sources", "Libraries/HTTPServer/Sources"].flatMap { folder in
            FileManager.default.enumerator(at: Repository.root.appending(path: folder), includingPropertiesForKeys: nil)?
                .allObjects as? [URL] ?? []
        }
        var codes: Set<String> = []
        for file in files where file.pathExtension == "swift" {
            // Without the examples in doc comments.
            let text = try String(contentsOf: file, encoding: .utf8).replacing(/(?m)^\s*\/\/\/.*$/, with: "")
            codes.formUnion(text.matches(of: /ErrorCode\(\s*"(\w+)"/).map { String($0.1) })
            for rejection in text.matches(of: /var code: String\? {\n(?: {8}.*\n)+/) {
                codes.formUnion(rejection.0.matches(of: /"(\w+)"/).map { String($0.1) })
            }
            for match in text.matches(of: /HTTPError\(\s*\.(\w+),(?!\s*code:)/) where match.1 != "noContent" {
                codes.insert(String(match.1).replacing(/[A-Z]/) { "_" + $0.0.lowercased() })
            }
        }
        return codes
    }

    @Test func `every code of the sources is in the document, and every code of the document is in the sources`() throws {
        #expect(try Set(Self.codes.map(\.name)) == Self.codesInSources())
        #expect(Set(Self.codes.map(\.name)).count == Self.codes.count)
    }

    @Test func `every code of a field is in the document, and no other`() {
        let documented = OpenAPIDocument.codes("FieldErrorCode").map(\.name)
        #expect(documented.sorted() == FieldError.Code.allCases.map(\.rawValue).sorted())
    }

    @Test func `the documentation page has an anchor for the type of every problem`() throws {
        let page = try Repository.text("Sources/CDocumentation/docs.html")
        for code in Self.codes { #expect(page.contains(#"<tr id="error-\#(code.name)">"#), "\(code.name)") }
    }

    @Test func `the codes of a response have its status`() {
        let statuses = Dictionary(Self.codes.map { ($0.name, $0.status) }) { first, _ in first }
        for response in Self.responses {
            guard let problem = OpenAPIDocument.problem(response.value) else { continue }
            #expect(!problem.codes.isEmpty, "\(response.name)")
            for code in problem.codes { #expect(statuses[code] == problem.status, "\(response.name) \(code)") }
        }
    }

    @Test func `every example of a problem fits its response`() throws {
        for response in Self.responses {
            guard let problem = OpenAPIDocument.problem(response.value) else { continue }
            let content = try #require(response.value["content"]?["application/problem+json"])
            let examples =
                content["example"].map { [$0] } ?? (content["examples"]?.members ?? []).compactMap { $0.value["value"] }
            #expect(examples.compactMap { $0["code"]?.string }.sorted() == problem.codes.sorted(), "\(response.name)")
            for example in examples {
                let code = try #require(example["code"]?.string)
                #expect(example["status"]?.shown == problem.status, "\(response.name)")
                #expect(example["title"]?.string == ErrorCode(code).title, "\(response.name)")
                #expect(example["type"]?.string == "/docs#error-" + code, "\(response.name)")
            }
        }
    }

    @Test func `every operation describes the errors that any request can get`() {
        for path in OpenAPIDocument.json["paths"]?.members ?? [] {
            for operation in path.value.members where operation.name != "parameters" {
                let responses = operation.value["responses"]?.members ?? []
                for status in ["400", "405", "408", "414", "431", "500", "503"] {
                    #expect(responses.contains { $0.name == status }, "\(operation.name) \(path.name) \(status)")
                }
                for response in responses where response.name >= "400" && path.name != "/health" {
                    let problem = OpenAPIDocument.problem(OpenAPIDocument.resolved(response.value))
                    #expect(problem?.status == response.name, "\(operation.name) \(path.name) \(response.name)")
                }
            }
        }
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
