import TestDatabase
import Testing

@Suite struct `The members of the sources` {
    /// What no source of ours names, and why it is there all the same.
    private static let exceptions: [String: Set<String>] = [
        "SwiftNIO calls it": [
            "InboundIn", "InboundOut", "OutboundIn", "OutboundOut", "channelInactive", "channelRead",
            "channelReadComplete", "channelWritabilityChanged", "errorCaught", "handlerAdded", "handlerRemoved",
            "userInboundEventTriggered",
        ],
        "swift-distributed-tracing calls it": ["addEvent", "forceFlush", "nameOverride"],
        "ArgumentParser calls it": ["validate"],
        "libpq declares it": ["PGRES_TUPLES_OK"],
        "the compiler calls it": ["appendInterpolation"],
        "Benchmarks/servers.py compares another server around the same modules": ["withModules"],
        "print and dump call it": ["customMirror", "debugDescription"],
        "another setting names it by its environment variable": ["databaseURLFile", "replicaURLFile"],
    ]

    @Test func `production uses every member, or the page of its library names it`() throws {
        var use = MemberUse()
        let folders = SourceTree.sources.filter { !$0.hasPrefix("HumonClient") }
        for file in try SourceTree.files(below: folders, ending: ".swift") { use.add(try Repository.text(file), file: file) }
        for page in try SourceTree.files(below: ["Libraries"], ending: "README.md") { use.addPage(try Repository.text(page)) }
        let allowed = Self.exceptions.values.reduce(into: Set()) { $0.formUnion($1) }
        let unused = use.unused()
        for member in unused where !allowed.contains(member.name) {
            Issue.record("\(member.file): nothing in production uses \(member.name)")
        }
        // An exception that is no longer needed must go.
        #expect(allowed.subtracting(unused.map(\.name)) == [])
    }

    @Test func `members without a use are found, and members with one are not`() {
        var use = MemberUse()
        use.add(
            """
            struct Kettle {
                var litres = 1  // warmth
                let warmth: Int
                func boil(_ water: Int) {}
                func boil(tea: Int) {}
                func pour(into cup: Int, slowly: Bool) {}
                func wash(with soap: Int = 0) {}
                func rest() {}
            }
            """, file: "Kettle.swift")
        use.add("let kettle = Kettle(litres: 2)\nkettle.boil(1)\nkettle.wash()\nprint(kettle)", file: "Kitchen.swift")
        #expect(
            use.unused().map { $0.name + ($0.label.map { "(\($0):)" } ?? "") } == ["warmth", "boil(tea:)", "pour(into:)", "rest"])
        use.addPage("The kettle's warmth may `rest`.")
        #expect(use.unused().map(\.name) == ["warmth", "boil", "pour"])
    }
}
