import Testing

@testable import EventStore

@Suite struct `Splitting a stream name` {
    @Test(arguments: [
        ("user-1", "user", "1"), ("event-12", "event", "12"), ("attendance-12-1", "attendance", "12-1"), ("event-", "event", ""),
        ("event--1", "event", "-1"),
    ])
    func `the first dash separates category and key, and a name without one has no key`(
        text: String, category: String, key: String
    ) {
        for name in ["event", ""] { #expect(StreamName(name) == StreamName(category: name, key: "")) }
        let name = StreamName(text)
        #expect(name.category == category)
        #expect(name.key == key)
        #expect(name.description == text)
        #expect(name == StreamName(category: category, key: key))
    }

    /// Every module reads the numbers of its streams so: a key that another spelling names would be a second stream of one thing.
    @Test func `a key is a number in one spelling only, from 1 to the largest one`() {
        #expect(["1", "12", "9223372036854775807"].map { StreamName("tea-\($0)").keyAsID } == [1, 12, .max])
        for key in ["", "x", "1-2", "0", "-1", "+1", "01", " 1", "9223372036854775808"] {
            #expect(StreamName("tea-\(key)").keyAsID == nil, "\(key)")
        }
    }
}
