import Encoding
import TestDatabase

/// The OpenAPI document as the program embeds it.
enum OpenAPIDocument {
    /// A code of an error or of a field.
    struct Code {
        var name: String
        /// `nil` for the code of a field.
        var status: String?
    }

    static let json: JSON = {
        do { return try JSON(utf8: Array(Repository.text("Sources/CDocumentation/openapi.json").utf8)) } catch {
            preconditionFailure("openapi.json cannot be read: \(error)")
        }
    }()

    /// The target of a reference, `nil` if it is missing; any other value unchanged.
    static func resolved(_ value: JSON) -> JSON? {
        guard let pointer = value["$ref"]?.string else { return value }
        return pointer.split(separator: "/").dropFirst().reduce(Optional(json)) { $0?[String($1)] }.flatMap(resolved)
    }

    /// The codes that a schema lists.
    static func codes(_ schema: String) -> [Code] {
        (json["components"]?["schemas"]?[schema]?["x-codes"]?.elements ?? []).map {
            Code(name: $0["const"]?.shown ?? "", status: $0["x-status"]?.shown)
        }
    }

    /// The status and the codes of a response with problem details; `nil` for any other response.
    static func problem(_ response: JSON?) -> (status: String, codes: [String])? {
        let schema = response?["content"]?["application/problem+json"]?["schema"]
        guard let special = schema?["properties"] else { return nil }
        return (special["status"]?["const"]?.shown ?? "", (special["code"]?["enum"]?.elements ?? []).map(\.shown))
    }
}

extension JSON {
    var string: String? { if case .string(let text) = self { text } else { nil } }

    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    var members: [JSONObject.Member] { if case .object(let object) = self { object.members } else { [] } }

    /// A string without quotation marks; any other value as JSON.
    var shown: String { string ?? text }
}
