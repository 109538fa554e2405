import Testing

@testable import EventStore

@Suite struct `Splitting a stream name` {
    @Test(arguments: [
        ("user-1", "user", "1"), ("event-12", "event", "12"), ("attendance-12-1", "attendance", "12-1"), ("event-", "event", ""),
        ("event--1", "event", "-1"),
    ])
    func `the first dash separates category and key`(text: String, category: String, key: String) {
        let name = StreamName(text)
        #expect(name.category == category)
        #expect(name.key == key)
        #expect(name.description == text)
        #expect(name == StreamName(category: category, key: key))
    }

    @Test func `a stream name without a dash has no key`() {
        #expect(StreamName("event") == StreamName(category: "event", key: ""))
        #expect(StreamName("") == StreamName(category: "", key: ""))
    }
}
