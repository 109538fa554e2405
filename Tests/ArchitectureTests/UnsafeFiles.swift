import Foundation
import TestDatabase
import Testing

/// The files with unsafe code: the table of `docs/security.md`, which gives the reason for each.
enum UnsafeFiles {
    static let page = "docs/security.md"

    static let listed = Set(rows.map(\.file))

    static let rows: [(file: String, reason: String)] = {
        guard let text = try? Repository.text(page) else { return [] }
        let section = text.components(separatedBy: "\n## Unsafe code\n").dropFirst().first ?? ""
        return section.matches(of: /\n\| `(\S+\.swift)` \| (.+) \|/).map { (String($0.1), String($0.2)) }
    }()
}

@Suite struct `The list of files with unsafe code` {
    @Test func `each file on the list has unsafe code and a reason`() throws {
        try #require(!UnsafeFiles.rows.isEmpty)
        #expect(UnsafeFiles.rows.count == UnsafeFiles.listed.count)
        for row in UnsafeFiles.rows {
            #expect(row.reason.count > 20, "\(row.file)")
            #expect(try Repository.text(row.file).contains("unsafe "), "\(row.file)")
        }
    }

    @Test func `no module is on the list`() {
        let modules = ["Users", "Events", "Attendances", "Accounts", "Tasks", "HTTP"]
        #expect(modules.filter { module in UnsafeFiles.listed.contains { $0.hasPrefix("Sources/\(module)/") } } == [])
    }
}
