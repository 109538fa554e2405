import Encoding
import TestDatabase
import Testing

extension BrowserPage {
    /// Runs axe-core, which `scripts/third-party axe` fetches, and expects no finding.
    /// - Parameter colours: whether to check the contrast of colours alone, or all but it; `nil` for all rules
    func expectAccessible(_ what: String, colours: Bool? = nil) async throws {
        // Once a document.
        if try await evaluate("typeof axe") == "undefined" {
            try await evaluate("\(try Repository.text("third-party/axe/axe.min.js")); true")
        }
        let rule = "'color-contrast'"
        let rules = colours.map { $0 ? ", runOnly: [\(rule)]" : ", rules: { \(rule): { enabled: false } }" } ?? ""
        let findings = try await evaluate(
            """
            axe.run({ resultTypes: ["violations"]\(rules) }).then(({ violations }) => violations
                .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`))
            """)
        #expect(findings == [], "\(what)")
    }
}
