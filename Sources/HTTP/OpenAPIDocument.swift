internal import Encoding
internal import Yams

/// `docs/openapi.yaml`, which travels inside the program, as JSON.
enum OpenAPIDocument {
    static let utf8 = json.utf8

    static let json: JSON = {
        // The document is a part of the program: a test reads it, so that it cannot fail here.
        do {
            let root = try Yams.compose(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
            return try JSON(root ?? Node.scalar(Node.Scalar("")))
        } catch {
            preconditionFailure("docs/openapi.yaml cannot be read: \(error)")
        }
    }()
}

extension JSON {
    fileprivate init(_ node: Node) throws {
        switch node {
        case .mapping(let mapping):
            self = .object(
                JSONObject(
                    members: try mapping.map { key, value in
                        JSONObject.Member(name: key.string ?? "", value: try JSON(value))
                    }
                )
            )
        case .sequence(let sequence): self = .array(try sequence.map(JSON.init))
        case .scalar(let scalar): self = JSON(scalar)
        case .alias: preconditionFailure("docs/openapi.yaml has an alias, which JSON has not")
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
