import Foundation

/// A Markdown page and the checks on it.
struct Document {
    var path: String
    var lines: [Substring]

    init(_ path: String, _ text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
    }

    /// The lines outside of code blocks.
    private var prose: [Substring] {
        var isCode = false
        return lines.filter { line in
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isCode.toggle() }
            return !isCode && !isFence
        }
    }

    /// Names in code spans that look like types: `EventLog` and `EventLog.append`, but neither `Age` nor `Idempotency-Key`.
    var types: Set<String> {
        Set(prose.flatMap { $0.matches(of: /`([A-Z][a-z]+[A-Z][A-Za-z]*)[`.(<]/).map { String($0.1) } })
    }

    /// Names in the schema `log`, also in code blocks: `append` of `log.append`, but no name of a file. In code of Swift, `log` is a value.
    var namesInLog: Set<String> {
        var isSwift = false
        return Set(
            lines.flatMap { line in
                let text = line.drop { $0 == " " }
                if text.hasPrefix("```") { isSwift = text == "```swift" }
                return isSwift ? [] : line.matches(of: /(?:^|[^\w\/.-])log\.([a-z_]+)/).map { String($0.1) }
            })
    }

    /// The anchors of the headings, as GitHub makes them.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
            })
    }

    /// Links and paths that lead nowhere.
    /// - Parameters:
    ///   - exists: whether there is a file at a path from the root
    ///   - text: the text of a page
    func brokenLinks(exists: (String) -> Bool, text: (String) -> String?) -> [String] {
        let folder = path.split(separator: "/").dropLast().map(String.init)
        var broken: [String] = []
        for line in prose {
            for link in line.matches(of: /\]\(([^)#:\s]*)(?:#([^)\s]*))?\)/) {
                let target = link.1.isEmpty ? path : Self.resolved(String(link.1), from: folder)
                let anchor = link.2.map(String.init)
                if !link.1.isEmpty, !exists(target) {
                    broken.append(String(link.0))
                } else if let anchor, target.hasSuffix(".md") {
                    let page = link.1.isEmpty ? self : Document(target, text(target) ?? "")
                    if !page.anchors.contains(anchor) { broken.append(String(link.0)) }
                }
            }
            for named in line.matches(
                of: /`((?:Sources|Libraries|HumonClient|Tests|db|docs|scripts|checks|Benchmarks|deploy)\/[A-Za-z0-9_\/.+-]+)`/)
            where !exists(String(named.1)) {
                broken.append(String(named.1))
            }
        }
        return broken
    }

    private static func resolved(_ link: String, from folder: [String]) -> String {
        var parts = folder
        for part in link.split(separator: "/") {
            switch part {
            case "..": _ = parts.popLast()
            case ".": break
            case _: parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    /// How the page breaks the form of a decision record.
    var decisionViolations: [String] {
        var violations: [String] = []
        if lines.first?.wholeMatch(of: /# \d+\. \S.*/) == nil { violations.append("has no title with a number") }
        if !lines.contains(where: { $0.hasPrefix("- Status: ") }) { violations.append("has no status") }
        if !lines.contains(where: { $0.wholeMatch(of: /- Date: \d{4}-\d\d-\d\d.*/) != nil }) { violations.append("has no date") }
        for section in ["Context", "Decision", "Alternatives", "Consequences"] where !lines.contains("## \(section)") {
            violations.append("has no section \(section)")
        }
        if lines.count > 100 { violations.append("has \(lines.count) lines") }
        return violations
    }
}
