internal import Foundation

/// A listing of Swift code that a page shows.
public struct Listing: Sendable {
    /// Behind the word `swift` at the beginning of the listing.
    public var mark: String
    /// Without the spaces around them.
    public var lines: [String]

    public init(mark: String = "", lines: [String]) {
        self.mark = mark
        self.lines = lines
    }

    /// The listings of a page.
    public static func all(in page: String) -> [Listing] {
        page.matches(of: /(?m)^```swift(.*)\n((?s:.*?))\n```$/).map { match in
            Listing(mark: match.1.trimmingCharacters(in: .whitespaces), lines: trimmed(match.2))
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
