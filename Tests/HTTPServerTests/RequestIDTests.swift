import Testing

@testable import HTTPServer

@Suite struct `Making a request id` {
    @Test func `a new request id has 32 digits and is unique`() {
        let names = (0..<1_000).map { _ in RequestID.new() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }
}
