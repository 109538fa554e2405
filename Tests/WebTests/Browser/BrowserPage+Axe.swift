import Encoding
import TestDatabase
import Testing

extension BrowserPage {
    /// Runs axe-core, which `scripts/third-party axe` fetches, and expects no serious finding.
    func expectAccessible(_ what: String) async throws {
        try await evaluate("\(try Repository.text("third-party/axe/axe.min.js")); true")
        let findings = try await evaluate(
            """
            axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations
                .filter(({ impact }) => impact === "serious" || impact === "critical")
                .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`))
            """)
        #expect(findings == [], "\(what)")
    }
}
