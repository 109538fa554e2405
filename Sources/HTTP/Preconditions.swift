internal import Events
internal import HTTPTypes
internal import Hummingbird

/// The name of an event's version. A strong one: an event has one representation a version, the same bytes on every node. If
/// the representation ever changes, so must the form of its tags.
/// Source: RFC 9110, section 8.8.3.
struct EntityTag: Hashable, CustomStringConvertible {
    var version: Int32

    var description: String { "\"\(version)\"" }

    init(version: Int32) { self.version = version }

    /// nil for what is no tag of ours.
    init?(_ text: some StringProtocol) {
        guard let version = Int32(text.dropFirst().dropLast()), EntityTag(version: version).description == text else {
            return nil
        }
        self.init(version: version)
    }
}

extension Request {
    /// `If-Match` and `If-None-Match`. Source: RFC 9110, sections 13.1.1 and 13.1.2: weak tags match nothing in the first, and
    /// are as good as strong ones in the second.
    var versionCondition: VersionCondition {
        var condition = VersionCondition()
        if let header = headers[.ifMatch] { condition.matching = VersionCondition.Versions(tags: header) { $0 } }
        if let header = headers[.ifNoneMatch] {
            condition.notMatching = VersionCondition.Versions(tags: header) { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0 }
        }
        return condition
    }
}

extension VersionCondition.Versions {
    /// Our own tags have no comma; what others have between theirs matches nothing either way.
    fileprivate init(tags header: String, strong: (Substring) -> Substring) {
        guard header[...].trimmingSpaces != "*" else {
            self = .any
            return
        }
        self = .these(Set(header.split(separator: ",").compactMap { EntityTag(strong($0.trimmingSpaces))?.version }))
    }
}
