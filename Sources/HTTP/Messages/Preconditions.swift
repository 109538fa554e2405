internal import Events
internal import HTTPServer
internal import HTTPTypes

extension Request {
    /// `If-Match` and `If-None-Match` as conditions on an event's version. Weak tags match nothing in the first,
    /// and match like strong tags in the second. Source: RFC 9110, sections 13.1.1 and 13.1.2.
    var versionCondition: VersionCondition {
        var condition = VersionCondition()
        if let header = headers.value(of: .ifMatch) {
            condition.matching = VersionCondition.Versions(header, EntityTag.list(header, isWeak: false))
        }
        if let header = headers.value(of: .ifNoneMatch) {
            condition.notMatching = VersionCondition.Versions(header, ifNoneMatchTags)
        }
        return condition
    }
}

extension VersionCondition.Versions {
    fileprivate init(_ header: String, _ tags: [EntityTag]) {
        guard header[...].trimmingSpaces != "*" else {
            self = .any
            return
        }
        let versions = tags.compactMap { tag in
            tag.mark.flatMap { mark in Int32(exactly: tag.version).map { EventVersion(number: $0, mark: mark) } }
        }
        self = .these(Set(versions))
    }
}
