internal import Encoding

/// A strong entity tag: a version, a mark, and for a compressed representation its content coding. Source: RFC 9110, section 8.8.3.
///
/// The plain bytes of version 5 with the mark `kbnapcmd` are `"5.kbnapcmd"`, the same bytes compressed are `"5.kbnapcmd-gzip"`. The
/// mark tells two versions with the same number apart, for example of two histories of a log. A tag without a mark is one of a
/// resource that has no two versions with one number. Every node must produce the same bytes for the same tag.
public struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    public var version: Int64
    public var mark: UInt32?
    /// `nil` for the plain bytes.
    public var coding: ContentCoding?

    public var description: String {
        "\"\(version)\(mark.map { ".\($0.letters)" } ?? "")\(coding.map { "-\($0.rawValue)" } ?? "")\""
    }

    public init(version: Int64, mark: UInt32? = nil, coding: ContentCoding? = nil) {
        self.version = version
        self.mark = mark
        self.coding = coding
    }

    /// Reads a tag of this server's form. Returns `nil` for every other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.dropFirst().dropLast().split(separator: "-", maxSplits: 1)
        let numbers = parts.first?.split(separator: ".", maxSplits: 1) ?? []
        guard let version = numbers.first.flatMap({ Int64($0) }) else { return nil }
        self.init(
            version: version, mark: numbers.count > 1 ? UInt32(letters: numbers[1]) : nil,
            coding: parts.count > 1 ? ContentCoding(rawValue: String(parts[1])) : nil)
        guard description == text else { return nil }
    }

    /// Whether a tag that a client holds names the version of this one, in any coding.
    public func isNamed(by held: EntityTag) -> Bool { held.version == version && held.mark == mark }

    /// Maximum number of tags in a list. They are read on the event loop, and a field of 32 KB has room for 8,000.
    static let listLimit = 64
    /// The longest text that is read as a tag, in bytes; this server's tags are shorter.
    private static let lengthLimit = 64

    /// The tags of this server's form in `If-Match` or `If-None-Match`, without those beyond the limit. They contain no comma. A
    /// foreign tag with a comma is split into parts that match no tag.
    /// - Parameter isWeak: whether a weak tag equals the strong one, as in `If-None-Match`; else it matches no tag, as in `If-Match`.
    ///   Source: RFC 9110, section 8.8.3.2
    public static func list(_ header: String, isWeak: Bool) -> [EntityTag] {
        header.parts(separatedBy: ",", atMost: listLimit + 1).prefix(listLimit).compactMap { member in
            let text = member.trimmingSpaces
            guard text.utf8.count <= lengthLimit else { return nil }
            return EntityTag(isWeak && text.hasPrefix("W/") ? text.dropFirst(2) : text)
        }
    }
}
