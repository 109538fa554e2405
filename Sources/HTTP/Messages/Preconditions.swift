internal import Events
internal import HTTPServer
internal import HTTPTypes

extension Request {
    /// `If-Match` and `If-None-Match` as conditions on an event's version. Weak tags match nothing in the first,
    /// and match like strong tags in the second. Source: RFC 9110, sections 13.1.1 and 13.1.2.
    /// - Parameter acceptsUnmarked: whether a tag without a mark names one content. Otherwise it is no reason for a change or for
    ///   304, and stays a reason against a change
    func versionCondition(acceptingUnmarked acceptsUnmarked: Bool) -> VersionCondition {
        var condition = VersionCondition()
        if let header = headers.value(of: .ifMatch) {
            let tags = EntityTag.list(header, comparison: .strong)
            condition.matching = VersionCondition.Versions(header, tags.filter { acceptsUnmarked || $0.mark != nil })
        }
        if let header = headers.value(of: .ifNoneMatch) {
            let isRead = method == .get || method == .head
            let tags = ifNoneMatchTags.filter { acceptsUnmarked || !isRead || $0.mark != nil }
            condition.notMatching = VersionCondition.Versions(header, tags)
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
            Int32(exactly: tag.version).map { EventVersion(number: $0, mark: tag.mark) }
        }
        self = .these(Set(versions))
    }
}
