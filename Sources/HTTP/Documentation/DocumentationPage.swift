internal import CDocumentation
internal import Encoding
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Hashing
internal import Mustache
internal import NIOCore

/// The API for people to read: made of the OpenAPI document, in one file that needs nothing else.
enum DocumentationPage {
    /// - Parameter document: the OpenAPI document of a server
    static func html(_ document: JSON) -> String {
        // The template is a part of the program, as the document is: a test renders it.
        do {
            let page = try MustacheTemplate(string: text(documentation_page_mustache))
            let response = try MustacheTemplate(string: text(documentation_response_mustache))
            let library = MustacheLibrary(templates: ["page": page, "response": response])
            guard let html = library.render(Contents(document), withTemplate: "page") else {
                preconditionFailure("the library has the template page")
            }
            return html
        } catch {
            preconditionFailure("the templates cannot be read: \(error)")
        }
    }

    private static let style = text(documentation_page_css)

    private static func text(_ byte: @escaping (Int) -> UInt8) -> String { String(decoding: embedded(byte), as: UTF8.self) }

    /// Lets the page use its own style and nothing else. Source: W3C *Content Security Policy*, level 3.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'sha256-\(Data(SHA256.hash(style.utf8)).base64EncodedString())'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static func response(_ document: JSON) -> Response {
        Response(
            headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: contentSecurityPolicy],
            body: ByteBuffer(string: html(document)))
    }

    /// What the template is filled with.
    private struct Contents {
        struct Group {
            var name: String
            var description: String
            var operations: [DocumentedOperation]
        }

        var title: String
        var version: String
        var summary: String
        var description: String
        var style: String
        var preparation: String
        var groups: [Group]
        var errors: [DocumentedError]
        var codes: [DocumentedCode]
        var fieldCodes: [DocumentedCode]

        init(_ document: JSON) {
            let operations = DocumentedOperation.all(in: document)
            title = document["info"]?["title"]?.string ?? ""
            version = document["info"]?["version"]?.string ?? ""
            summary = document["info"]?["summary"]?.string ?? ""
            description = markedUp(document["info"]?["description"])
            style = DocumentationPage.style
            errors = DocumentedError.all(in: document)
            codes = DocumentedCode.all(in: document, schema: "ErrorCode")
            fieldCodes = DocumentedCode.all(in: document, schema: "FieldErrorCode")
            groups = (document["tags"]?.elements ?? []).map { tag in
                let name = tag["name"]?.string ?? ""
                return Group(
                    name: name, description: markedUp(tag["description"]), operations: operations.filter { $0.group == name })
            }
            let tags = Set(groups.map(\.name))
            preparation = Self.preparation.filter { $0.tag.map(tags.contains) ?? true }.map(\.line).joined(separator: "\n")
        }

        /// The variables that the `curl` lines use, each with the tag of the operations that need it.
        private static let preparation: [(tag: String?, line: String)] = [
            (nil, "HUMON=http://127.0.0.1:8080"), ("Users", "SECRET=...                        # TB_APP_SECRET"),
            ("Users", "TOKEN=$(openssl rand -hex 16)"),
            ("Accounts", #"ACCOUNT="user[email]=ann@example.org&user[password]=correct horse battery""#),
            ("Accounts", #"curl -s -o /dev/null "$HUMON/v1/users" -d "$ACCOUNT""#),
            ("Accounts", #"ACCOUNT_TOKEN=$(curl -s "$HUMON/v1/users/sign_in" -d "$ACCOUNT" | cut -d'"' -f6)"#),
        ]
    }
}

/// As HTML: paragraphs, `code` and **strong**, which is all of Markdown that the document uses.
func markedUp(_ text: JSON?) -> String {
    guard let text = text?.string else { return "" }
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    return escaped.split(separator: "\n\n").map { paragraph in
        let marked = tagged(tagged(String(paragraph), "code", between: "`"), "strong", between: "**")
        return "<p>\(marked.trimmingCharacters(in: .newlines))</p>"
    }.joined(separator: "\n")
}

/// Puts every second part of the text into an element. Without a regular expression: Swift would compile it for each text.
private func tagged(_ text: String, _ element: String, between mark: String) -> String {
    text.components(separatedBy: mark).enumerated().map { $0.isMultiple(of: 2) ? $1 : "<\(element)>\($1)</\(element)>" }.joined()
}

extension JSON {
    var string: String? { if case .string(let text) = self { text } else { nil } }

    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    var members: [JSONObject.Member] { if case .object(let object) = self { object.members } else { [] } }
}
