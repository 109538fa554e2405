import Foundation
import TestDatabase
import Testing

@testable import App

@Suite struct `The README` {
    @Test func `lists the settings there are`() throws {
        let text = try Repository.text("docs/settings.md")
        let rows = text.matches(of: /\| `([A-Z_]+)` \| (.*) \| (.*) \|\n/).map { "\($0.1)|\($0.2)|\($0.3)" }
        #expect(rows == Settings.Keys.all.map { "\($0.name)|\($0.shownDefault)|\($0.help)" })
    }
}
