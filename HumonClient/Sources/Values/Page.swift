internal import Foundation

/// A part of a list.
public struct Page<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// The place at which the next page begins; `nil` on the last page.
    public var next: Cursor?
    /// The position of the log that the page shows. `nil` if the server read its database instead of its index, or if this
    /// list has no position.
    public var position: Position?

    public init(elements: [Element], next: Cursor? = nil, position: Position? = nil) {
        self.elements = elements
        self.next = next
        self.position = position
    }
}

extension Page: Equatable where Element: Equatable {}

/// A position of the log with the mark of its history, such as `1234.kbnapcmd`. Only the server reads the mark.
public struct Position: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Orders the positions of one history.
    var number: Int64 { Int64(rawValue.prefix { $0 != "." }) ?? 0 }
}

/// The place in a list at which a page begins. The text is opaque: only the server reads it.
public struct Cursor: RawRepresentable, Sendable, Hashable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The cursor of the next page in a `Link` header (RFC 8288); `nil` if there is none.
    init?(link: String) {
        for part in link.split(separator: ",") where part.contains("rel=\"next\"") {
            guard let target = part.split(separator: ">").first?.split(separator: "?", maxSplits: 1).last else { continue }
            for parameter in target.split(separator: "&") where parameter.hasPrefix("after=") {
                guard let value = parameter.dropFirst("after=".count).removingPercentEncoding else { continue }
                self.init(rawValue: value)
                return
            }
        }
        return nil
    }
}
