internal import CDocumentation
internal import Encoding

/// `docs/openapi.yaml`, which travels inside the program as JSON.
enum OpenAPIDocument {
    /// The document of a server: without the operations of apps that it leaves out, and without the components that only they use.
    static func json(serving apps: Set<ServedApp>) -> JSON {
        let changes = apps.count == 1 ? apps.first.flatMap { file["x-only"]?[$0.rawValue] } : nil
        let document = file.patched(with: ["x-only": .null]).patched(with: changes ?? [:])
        guard apps != .all else { return document }
        let served = (document["tags"]?.elements ?? []).filter { tag in
            tag["x-app"]?.string.flatMap(ServedApp.init(rawValue:)).map(apps.contains) ?? true
        }
        let names = Set(served.compactMap { $0["name"] })
        let paths = (document["paths"]?.members ?? []).map { path in
            JSONObject.Member(name: path.name, value: path.value.keeping { $0.value["tags"] == nil || $0.value.isTagged(names) })
        }
        let used = paths.filter { $0.value.members.contains { $0.value["tags"] != nil } }
        return document.replacing("tags", with: .array(served))
            .replacing("paths", with: .object(JSONObject(members: used))).withoutUnusedComponents
    }

    /// The document of a server with all apps. `x-only` has a merge patch for a server with one app alone.
    static let file: JSON = {
        // The document is a part of the program: a test reads it, so that it cannot fail here.
        do {
            return try JSON(utf8: embedded(documentation_openapi_json))
        } catch {
            preconditionFailure("openapi.json cannot be read: \(error)")
        }
    }()
}

/// A text of the program in C.
/// - Parameter byte: the byte of the text at an index, and 0 behind its last byte
func embedded(_ byte: @escaping (Int) -> UInt8) -> [UInt8] {
    Array((0...).lazy.map(byte).prefix(while: { $0 != 0 }))
}

extension JSON {
    /// Source: RFC 7396, *JSON Merge Patch*.
    func patched(with patch: JSON) -> JSON {
        guard case .object(let changes) = patch else { return patch }
        var members = members
        for change in changes.members {
            let index = members.firstIndex { $0.name == change.name }
            switch (index, change.value) {
            case (let index?, .null): members.remove(at: index)
            case (let index?, let value): members[index].value = members[index].value.patched(with: value)
            case (nil, .null): break
            case (nil, let value): members.append(JSONObject.Member(name: change.name, value: JSON.null.patched(with: value)))
            }
        }
        return .object(JSONObject(members: members))
    }

    /// Whether an operation has one of these tags.
    fileprivate func isTagged(_ names: Set<JSON>) -> Bool { self["tags"]?.elements.contains(where: names.contains) == true }

    fileprivate func replacing(_ name: String, with value: JSON) -> JSON {
        .object(JSONObject(members: members.map { $0.name == name ? JSONObject.Member(name: name, value: value) : $0 }))
    }

    fileprivate func keeping(_ isKept: (JSONObject.Member) -> Bool) -> JSON {
        .object(JSONObject(members: members.filter(isKept)))
    }

    /// Without the components that nothing refers to. A component may refer to another one.
    fileprivate var withoutUnusedComponents: JSON {
        let used = references
        let kinds = (self["components"]?.members ?? []).map { kind in
            JSONObject.Member(
                name: kind.name,
                // An operation names its security schemes without a reference.
                value: kind.name == "securitySchemes"
                    ? kind.value : kind.value.keeping { used.contains("#/components/\(kind.name)/\($0.name)") })
        }
        let rest = replacing("components", with: .object(JSONObject(members: kinds)))
        return rest.references.count == used.count ? rest : rest.withoutUnusedComponents
    }

    /// The targets of all references.
    private var references: Set<String> {
        switch self {
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.references) }
        case .object(let object):
            object.members.reduce(into: []) { found, member in
                if member.name == "$ref", let target = member.value.string { found.insert(target) }
                found.formUnion(member.value.references)
            }
        case .null, .bool, .number, .string: []
        }
    }
}
