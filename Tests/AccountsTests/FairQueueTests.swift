import Testing

@testable import Accounts

@Suite struct `A queue that serves its clients in turn` {
    private static func queue(_ clients: String, limit: Int = 64, clientLimit: Int = 16) -> FairQueue<String> {
        var queue = FairQueue<String>(limit: limit, clientLimit: clientLimit)
        for (number, client) in clients.enumerated() { _ = queue.append("\(client)\(number)", of: String(client)) }
        return queue
    }

    private static func drained(_ queue: FairQueue<String>) -> [String] {
        var (queue, elements) = (queue, [] as [String])
        while let element = queue.popFirst() { elements.append(element) }
        #expect(queue.count == 0)
        return elements
    }

    @Test func `each client gives its oldest element when it has its turn`() {
        #expect(Self.drained(Self.queue("aaabac")) == ["a0", "b3", "c5", "a1", "a2", "a4"])
        #expect(Self.drained(Self.queue("")) == [])
    }

    @Test func `an element beyond the limit of its client has no place, nor has one where others have as few`() {
        var queue = Self.queue("aab", clientLimit: 2)
        #expect(queue.append("a3", of: "a") == "a3")
        #expect(queue.append("b4", of: "b") == nil)
        #expect(Self.drained(queue) == ["a0", "b2", "a1", "b4"])
        var full = Self.queue("abc", limit: 3)
        #expect(full.append("d3", of: "d") == "d3")
        var uneven = Self.queue("aab", limit: 3)
        #expect(uneven.append("b3", of: "b") == "b3")
        #expect(uneven.append("a4", of: "a") == "a4")
        var empty = FairQueue<String>(limit: 0, clientLimit: 1)
        #expect(empty.append("a0", of: "a") == "a0")
    }

    @Test func `in a full queue a client displaces the newest element of the client that has the most`() {
        var queue = Self.queue("aaabb", limit: 5)
        #expect(queue.append("c5", of: "c") == "a2")
        #expect(queue.count == 5)
        #expect(Self.drained(queue) == ["a0", "b3", "c5", "a1", "b4"])
    }

    @Test func `a removed element leaves the turns of its client as they are, and the last one ends them`() {
        var queue = Self.queue("aaba")
        #expect(queue.removeFirst(of: "a") { $0 == "a1" } == "a1")
        #expect(queue.removeFirst(of: "a") { $0 == "a1" } == nil)
        #expect(queue.removeFirst(of: "b") { _ in true } == "b2")
        #expect(queue.removeFirst(of: "c") { _ in true } == nil)
        #expect(Self.drained(queue) == ["a0", "a3"])
    }
}
