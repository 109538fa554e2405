internal import HTTPTypes
internal import Hummingbird

/// The name of an event's version. A strong one: an event has one representation a version, the same bytes on every node.
/// Source: RFC 9110, section 8.8.3.
struct EntityTag: Hashable, CustomStringConvertible {
    var version: Int32

    var description: String { "\"\(version)\"" }
}

extension Request {
    /// Whether the caller has that version already. Source: RFC 9110, section 13.1.2; weak tags are as good as strong ones.
    func has(_ tag: EntityTag) -> Bool {
        guard let condition = headers[.ifNoneMatch] else { return false }
        return condition.isAnyTag || condition.tags.contains { $0 == tag.description || $0 == "W/\(tag)" }
    }

    /// The versions that the caller wants to change; nil: any. Source: RFC 9110, section 13.1.1; weak tags match nothing.
    var versionsOfIfMatch: Set<Int32>? {
        guard let condition = headers[.ifMatch], !condition.isAnyTag else { return nil }
        return Set(
            condition.tags.compactMap { tag in
                guard let version = Int32(tag.dropFirst().dropLast()), EntityTag(version: version).description == tag else {
                    return nil
                }
                return version
            })
    }
}

extension String {
    fileprivate var isAnyTag: Bool { allSatisfy { $0 == "*" || $0 == " " } && contains("*") }

    /// The members of a list. Our own tags have no comma; what others have between theirs matches nothing either way.
    fileprivate var tags: [String] { split(separator: ",").map { String($0.trimmingSpaces) } }
}
