import Testing

@testable import HTTPServer

@Suite struct `Making a request id` {
    @Test func `a new request id has 32 digits and is unique`() {
        let names = (0..<1_000).map { _ in RequestID.new() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }

    @Test func `the ids of consecutive requests have no part in common and no order`() {
        let names = (0..<1_000).map { _ in RequestID.new() }
        for half in [names.map { $0.prefix(16) }, names.map { $0.suffix(16) }] {
            #expect(Set(half).count == half.count)
            let rises = zip(half, half.dropFirst()).count { $0 < $1 }
            #expect((300...700).contains(rises), "\(rises)")
        }
    }
}
