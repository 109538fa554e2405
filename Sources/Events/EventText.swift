internal import Encoding
internal import EventStore
internal import Foundation

/// An optional text of an event, which old clients do not know. JSON leaves an absent one out, and a replacement that does not name one
/// keeps it.
///
/// A text is personal. The API's JSON, the stored data and the columns have the texts in this order, each under its raw value.
public enum EventText: String, Sendable, CaseIterable {
    case category
    /// The time zone of the place.
    case timeZone = "time_zone"
    case description
    case link

    static let categories = [
        "music", "stage", "film", "art", "learning", "sport", "outdoors", "food", "games", "market", "family", "community",
    ]

    /// Whether lists have the text, and so the index. The other texts are in the read model alone: in a leaf, every change of a neighbour
    /// would copy them.
    var isListed: Bool {
        switch self {
        case .category, .timeZone: true
        case .description, .link: false
        }
    }

    /// A client's text as it is kept. Forms of browsers send CR LF.
    func read(_ text: String) -> String { self == .description ? text.withoutCarriageReturns : text }

    /// The validation error of a client's text, which is not blank; `nil` for a valid one. Tests pin the sentences.
    func error(in text: String) -> FieldError? {
        switch self {
        case .category:
            guard !Self.categories.contains(where: { $0.hasSameBytes(as: text) }) else { return nil }
            return .notAChoice(rawValue, Self.categories)
        case .timeZone: return text.isTimeZone ? nil : FieldError(rawValue, .notATimeZone, "is not a valid time zone")
        case .description:
            guard text.unicodeScalars.count <= 4_000 else { return .tooLong(rawValue, maximum: 4_000, "characters") }
            let isRefused = text.unicodeScalars.contains(where: \.isDisruptive)
            return isRefused ? FieldError(rawValue, .invalidCharacters, "contains a control character") : nil
        case .link:
            guard text.unicodeScalars.count <= 1_000 else { return .tooLong(rawValue, maximum: 1_000, "characters") }
            return text.isWebAddress ? nil : FieldError(rawValue, .notALink, "is not a valid web address")
        }
    }

    /// Checks a text from the log or from a read model. The rules for clients may become stricter, and more categories may come.
    /// - Throws: ``FormatError`` with the field, never its value
    func check(stored text: String) throws(FormatError) {
        try EventDetails.check(text: text, rawValue)
        switch self {
        case .category, .timeZone:
            guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw FormatError("\(rawValue) is not a word of 1 to 64 visible ASCII characters")
            }
        case .description: break
        // Whatever shows the link relies on it.
        case .link: guard text.webScheme != nil else { throw FormatError("link does not begin with http:// or https://") }
        }
    }
}

extension String {
    fileprivate var withoutCarriageReturns: String {
        let bytes = Array(utf8)
        let kept = bytes.indices.filter { bytes[$0] != 0x0D || bytes[($0 + 1)...].first != 0x0A }
        return kept.count == bytes.count ? self : String(decoding: kept.map { bytes[$0] }, as: UTF8.self)
    }

    /// Whether the text is `UTC`, or a name of the IANA database with an area, such as `Europe/Berlin`.
    fileprivate var isTimeZone: Bool {
        if hasSameBytes(as: "UTC") { return true }
        let isName = utf8.count <= 64 && utf8.contains(UInt8(ascii: "/"))
        return isName && utf8.allSatisfy { $0.isLetterOrDigit || "_+-/".utf8.contains($0) } && TimeZone(identifier: self) != nil
    }

    /// `http://` or `https://`, if the text begins so, in any case.
    fileprivate var webScheme: String? {
        ["http://", "https://"].first { scheme in
            utf8.count > scheme.utf8.count && zip(utf8, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
        }
    }

    /// Whether the text is an address that everyone may be shown: `http` or `https`, a host with a dot, perhaps a port, no user name, and
    /// the characters of RFC 3986 alone. Source for the host: RFC 1123, section 2.1.
    fileprivate var isWebAddress: Bool {
        let isOfURL = utf8.allSatisfy { (0x21...0x7E).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }
        guard isOfURL, let scheme = webScheme else { return false }
        let authority = utf8.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
        let ends = String(Substring(authority)).parts(separatedBy: ":", atMost: 2)
        let isPort = ends.dropFirst().allSatisfy { UInt16($0) != nil && $0.utf8.allSatisfy(\.isLetterOrDigit) }
        let labels = String(ends[0]).parts(separatedBy: ".")
        guard isPort, ends[0].utf8.count <= 253, labels.count > 1, labels.allSatisfy(\.isHostLabel) else { return false }
        return parts(separatedBy: "%").dropFirst().allSatisfy { $0.utf8.count > 1 && $0.prefix(2).allSatisfy(\.isHexDigit) }
    }
}

extension Substring {
    fileprivate var isHostLabel: Bool {
        let dash = UInt8(ascii: "-")
        return (1...63).contains(utf8.count) && utf8.first != dash && utf8.last != dash
            && utf8.allSatisfy { $0 == dash || $0.isLetterOrDigit }
    }
}
