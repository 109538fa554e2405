internal import Encoding
internal import Foundation

/// Reads what operations share out of the OpenAPI document.
struct DocumentReader {
    var document: JSON

    /// The target of a reference; any other value unchanged.
    func resolved(_ json: JSON) -> JSON {
        guard let pointer = json["$ref"]?.string else { return json }
        let target = pointer.split(separator: "/").dropFirst().reduce(Optional(document)) { $0?[String($1)] }
        guard let target else { preconditionFailure("docs/openapi.yaml has no \(pointer)") }
        return resolved(target)
    }

    func parameter(_ parameter: JSON) -> DocumentedOperation.Parameter {
        DocumentedOperation.Parameter(
            name: parameter["name"]?.string ?? "", place: parameter["in"]?.string ?? "",
            isRequired: parameter["required"] == .bool(true), value: value(parameter["schema"] ?? .null),
            description: markedUp(parameter["description"]))
    }

    /// The fields of an object's schema, including the schemas that `allOf` combines.
    func fields(_ schema: JSON?) -> [DocumentedOperation.Parameter] {
        guard let schema = schema.map(resolved) else { return [] }
        let parts = [schema] + (schema["allOf"]?.elements ?? []).map(resolved)
        let required = parts.flatMap { $0["required"]?.elements ?? [] }
        return parts.flatMap { $0["properties"]?.members ?? [] }.map { member in
            let field = resolved(member.value)
            return DocumentedOperation.Parameter(
                name: member.name, place: "body", isRequired: required.contains(.string(member.name)), value: value(field),
                description: markedUp(field["description"]))
        }
    }

    /// The schema of a value in words, such as "number from -90 to 90".
    private func value(_ schema: JSON) -> String {
        let schema = resolved(schema)
        let choices = (schema["oneOf"] ?? schema["anyOf"])?.elements ?? []
        guard choices.isEmpty else { return choices.map(value).unique.joined(separator: " or ") }
        let types = schema["type"]?.elements ?? []
        var words = types.isEmpty ? schema["type"]?.shown ?? "any" : types.map(\.shown).joined(separator: " or ")
        if let format = schema["format"]?.string, format != "int64" { words += " (\(format))" }
        switch (schema["minimum"]?.shown, schema["maximum"]?.shown) {
        case (let low?, let high?): words += " from \(low) to \(high)"
        case (let low?, nil): words += " from \(low)"
        case (nil, let high?): words += " to \(high)"
        case (nil, nil): break
        }
        if let length = schema["maxLength"]?.shown { words += " of at most \(length) characters" }
        if let value = schema["default"]?.shown { words += ", \(value) if left out" }
        return words
    }

    /// The examples of a media type.
    func examples(_ content: JSONObject.Member) -> [DocumentedOperation.Example] {
        func shown(_ value: JSON?) -> String {
            let value = value ?? .null
            return content.name == "application/x-www-form-urlencoded" ? form(value) : value.shown
        }
        if let example = content.value["example"] { return [DocumentedOperation.Example(value: shown(example))] }
        return (content.value["examples"]?.members ?? []).map { member in
            let example = resolved(member.value)
            return DocumentedOperation.Example(
                summary: example["summary"].map { markedUp($0) }, value: shown(example["value"]))
        }
    }

    /// A form body; nested fields have names such as `event[id]`.
    private func form(_ fields: JSON, in parent: String? = nil) -> String {
        fields.members.map { member in
            let name = parent.map { "\($0)[\(member.name)]" } ?? member.name
            guard member.value.members.isEmpty else { return form(member.value, in: name) }
            let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._"))
            return name + "=" + (member.value.shown.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        }.joined(separator: "&")
    }
}

extension JSON {
    /// A string without quotation marks; any other value as JSON.
    var shown: String { string ?? text }
}

extension [String] {
    /// Each element once, in the order of first occurrence.
    fileprivate var unique: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
