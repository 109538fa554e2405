import Testing

@testable import HTTPServer

@Suite struct `The name of a request` {
    @Test func `is 32 digits that no other has`() {
        let names = (0..<1_000).map { _ in RequestID.new() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }
}
