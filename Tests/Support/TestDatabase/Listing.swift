internal import Foundation

/// A listing of Swift code that a page or a doc comment shows.
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

    /// The listings of the doc comments of a source file, each with the first line of the declaration behind its comment and the number
    /// of lines of the comment before it.
    public static func inDocComments(of source: String) -> [(declaration: String, linesBefore: Int, listing: Listing)] {
        let lines = trimmed(source)
        return lines.indices.filter { lines[$0].hasPrefix("///") && (lines.startIndex == $0 || !lines[$0 - 1].hasPrefix("///")) }
            .flatMap { start in
                let comment = lines[start...].prefix { $0.hasPrefix("///") }
                let declaration = lines[comment.endIndex...].first { !$0.hasPrefix("@") && !$0.hasPrefix("//") } ?? ""
                let text = comment.map { $0.dropFirst(3).hasPrefix(" ") ? $0.dropFirst(4) : $0.dropFirst(3) }
                return all(in: text.joined(separator: "\n")).map { listing in
                    (declaration, text.firstIndex { $0.hasPrefix("```swift") } ?? 0, listing)
                }
            }
    }

    /// Whether the lines stand in a file, one after the other. The indentation may differ.
    public func isPart(of file: String) -> Bool {
        let file = Self.trimmed(file)
        return file.indices.contains { file[$0] == lines.first && Array(file[$0...].prefix(lines.count)) == lines }
    }

    private static func trimmed(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
