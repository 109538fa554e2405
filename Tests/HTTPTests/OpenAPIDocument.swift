import Encoding
import TestDatabase

/// The OpenAPI document as the program embeds it.
enum OpenAPIDocument {
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
}

extension JSON {
    var string: String? { if case .string(let text) = self { text } else { nil } }

    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

    var members: [JSONObject.Member] { if case .object(let object) = self { object.members } else { [] } }
}
