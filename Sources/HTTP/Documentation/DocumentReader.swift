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

    /// The header fields of a response.
    func headers(_ response: JSON) -> DocumentedOperation.Table? {
        DocumentedOperation.Table(
            (response["headers"]?.members ?? []).map { member in
                let header = resolved(member.value)
                return DocumentedOperation.Parameter(
                    name: member.name, place: "header", isRequired: header["required"] == .bool(true),
                    value: value(header["schema"] ?? .null), description: markedUp(header["description"]))
            })
    }

    /// The formats of a body. A format with the same schema as an earlier one has no table.
    func formats(_ content: JSON?) -> [DocumentedOperation.Format] {
        var shown: [JSON] = []
        return (content?.members ?? []).map { member in
            let schema = named(member.value["schema"] ?? .null)
            let isAsBefore = shown.contains(schema)
            shown.append(schema)
            return DocumentedOperation.Format(
                type: member.name, tables: isAsBefore ? [] : tables(schema), isAsBefore: isAsBefore, examples: examples(member))
        }
    }

    /// The schema that another one only gives a name to, as the schema of a form.
    private func named(_ schema: JSON) -> JSON {
        guard let parts = resolved(schema)["allOf"]?.elements, let first = parts.first,
            parts.dropFirst().allSatisfy({ $0["properties"] == nil && $0["required"] == nil })
        else { return schema }
        return first
    }

    /// The fields of a schema: a table for each alternative.
    private func tables(_ schema: JSON) -> [DocumentedOperation.Table] {
        let alternatives = resolved(schema)["oneOf"]?.elements ?? []
        guard !alternatives.isEmpty else { return [DocumentedOperation.Table(fields(schema))].compactMap(\.self) }
        return alternatives.compactMap {
            DocumentedOperation.Table(fields($0), caption: markedUp(resolved($0)["description"]))
        }
    }

    /// The fields of an object or of the elements of a list, including the schemas that `allOf` combines. A field within another one
    /// has both names: `owner.id`.
    private func fields(_ schema: JSON, in parent: String = "") -> [DocumentedOperation.Parameter] {
        let schema = resolved(schema)
        if let items = schema["items"] { return fields(items, in: parent.isEmpty ? "" : parent.dropLast() + "[].") }
        let parts = [schema] + (schema["allOf"]?.elements ?? []).map(resolved)
        let required = parts.flatMap { $0["required"]?.elements ?? [] }
        var names: Set<String> = []
        return parts.flatMap { $0["properties"]?.members ?? [] }.filter { names.insert($0.name).inserted }.flatMap { member in
            let (name, field) = (parent + member.name, resolved(member.value))
            let parameter = DocumentedOperation.Parameter(
                name: name, place: "body", isRequired: required.contains(.string(member.name)), value: value(field),
                description: markedUp(field["description"]))
            return [parameter] + fields(field, in: name + ".")
        }
    }

    /// The status and the codes of a response with problem details; `nil` for any other response.
    func problem(_ response: JSON) -> (status: String, codes: [String])? {
        guard let schema = response["content"]?["application/problem+json"]?["schema"],
            let special = schema["properties"]
        else { return nil }
        return (special["status"]?["const"]?.shown ?? "", (special["code"]?["enum"]?.elements ?? []).map(\.shown))
    }

    /// The schema of a value in words, such as "number from -90 to 90".
    private func value(_ schema: JSON) -> String {
        let schema = resolved(schema)
        if let value = schema["const"] { return value.shown }
        if let values = schema["enum"]?.elements { return values.map(\.shown).joined(separator: " or ") }
        let choices = (schema["oneOf"] ?? schema["anyOf"])?.elements ?? []
        guard choices.allSatisfy({ $0["const"] != nil }) else { return choices.map(value).unique.joined(separator: " or ") }
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
        if let value = schema["default"]?.shown {
            words += ", \(value) " + (schema["x-generated"] == .bool(true) ? "from generated clients" : "if left out")
        }
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
