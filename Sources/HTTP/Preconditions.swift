internal import Events
internal import HTTPTypes
internal import Hummingbird

/// The name of a representation of an event's version, of a list of events as it is at a position of the log, or of a document. A
/// strong one: the plain bytes of a version or position are the same on every node, and compressed ones have a name of their own. If
/// the representation ever changes, so must the form of its tags. Source: RFC 9110, section 8.8.3.
struct EntityTag: Hashable, CustomStringConvertible {
    /// Of an event; of a list the position, of a document a digest.
    var version: Int64
    /// nil for the plain bytes.
    var coding: ContentCoding?

    var description: String { "\"\(version)\(coding.map { "-\($0.rawValue)" } ?? "")\"" }

    init(version: Int64, coding: ContentCoding? = nil) {
        self.version = version
        self.coding = coding
    }

    /// nil for what is no tag of ours.
    init?(_ text: some StringProtocol) {
        let parts = text.dropFirst().dropLast().split(separator: "-", maxSplits: 1)
        guard let version = parts.first.flatMap({ Int64($0) }) else { return nil }
        self.init(version: version, coding: parts.count > 1 ? ContentCoding(rawValue: String(parts[1])) : nil)
        guard description == text else { return nil }
    }
}

extension Request {
    /// `If-Match` and `If-None-Match`. Source: RFC 9110, sections 13.1.1 and 13.1.2: weak tags match nothing in the first, and
    /// are as good as strong ones in the second.
    var versionCondition: VersionCondition {
        var condition = VersionCondition()
        if let header = headers.value(of: .ifMatch) {
            condition.matching = VersionCondition.Versions(header, EntityTag.list(header))
        }
        if let header = headers.value(of: .ifNoneMatch) {
            condition.notMatching = VersionCondition.Versions(header, tagsNotToMatch)
        }
        return condition
    }

    /// Whether the client has what is called so.
    func knows(_ tag: EntityTag) -> Bool {
        guard let header = headers.value(of: .ifNoneMatch) else { return false }
        return header[...].trimmingSpaces == "*" || tagsNotToMatch.contains { $0.version == tag.version }
    }

    /// Those in `If-None-Match`. What a read would be answered plainly is not said to be what the client holds compressed.
    var tagsNotToMatch: [EntityTag] {
        guard let header = headers.value(of: .ifNoneMatch) else { return [] }
        let tags = EntityTag.list(header) { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0 }
        guard method == .get || method == .head, tags.contains(where: { $0.coding != nil }) else { return tags }
        let accepted = AcceptedCodings(headers.value(of: .acceptEncoding))
        return tags.filter { $0.coding.map(accepted.accepts) ?? true }
    }
}

extension EntityTag {
    /// Our own tags have no comma; what others have between theirs matches nothing either way.
    fileprivate static func list(_ header: String, strong: (Substring) -> Substring = { $0 }) -> [EntityTag] {
        header.split(separator: ",").compactMap { EntityTag(strong($0.trimmingSpaces)) }
    }
}

extension VersionCondition.Versions {
    fileprivate init(_ header: String, _ tags: [EntityTag]) {
        self = header[...].trimmingSpaces == "*" ? .any : .these(Set(tags.compactMap { Int32(exactly: $0.version) }))
    }
}
