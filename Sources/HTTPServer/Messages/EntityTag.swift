/// A strong entity tag: a version and, for a compressed representation, its content coding. Source: RFC 9110, section 8.8.3.
///
/// The plain bytes of version 5 are `"5"`, the same bytes compressed are `"5-gzip"`. Every node must produce the same bytes for the
/// same tag.
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// The two comparisons of entity tags. Source: RFC 9110, section 8.8.3.2.
    public enum Comparison: Sendable {
        /// A weak tag matches no tag, as in `If-Match`.
        case strong
        /// A weak tag equals the strong one, as in `If-None-Match`.
        case weak
    }

    public var version: Int64
    /// `nil` for the plain bytes.
    public var coding: ContentCoding?

    public var description: String { "\"\(version)\(coding.map { "-\($0.rawValue)" } ?? "")\"" }

    public init(version: Int64, coding: ContentCoding? = nil) {
        self.version = version
        self.coding = coding
    }

    /// Reads a tag of this server's form. Returns `nil` for every other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.dropFirst().dropLast().split(separator: "-", maxSplits: 1)
        guard let version = parts.first.flatMap({ Int64($0) }) else { return nil }
        self.init(version: version, coding: parts.count > 1 ? ContentCoding(rawValue: String(parts[1])) : nil)
        guard description == text else { return nil }
    }

    /// Maximum number of tags in a list. They are read on the event loop, and a field of 32 KB has room for 8,000.
    static let listLimit = 64

    /// The tags of this server's form in `If-Match` or `If-None-Match`, without those beyond the limit. They contain no comma. A
    /// foreign tag with a comma is split into parts that match no tag.
    public static func list(_ header: String, comparison: Comparison) -> [EntityTag] {
        header.split(separator: ",", maxSplits: listLimit).prefix(listLimit).compactMap { member in
            let text = member.trimmingSpaces
            return EntityTag(comparison == .weak && text.hasPrefix("W/") ? text.dropFirst(2) : text)
        }
    }
}
