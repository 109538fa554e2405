internal import DequeModule

/// A queue that serves its clients in turn. A client with many elements delays another client by one element for each turn, and cannot
/// take the other's place.
struct FairQueue<Element: Sendable>: Sendable {
    /// Maximum number of elements.
    let limit: Int
    /// Maximum number of elements of one client.
    let clientLimit: Int

    /// The elements of each client, the oldest first. None is empty.
    private var elements: [String: Deque<Element>] = [:]
    /// The clients with elements; the first has the next turn.
    private var turns: Deque<String> = []
    private(set) var count = 0

    init(limit: Int, clientLimit: Int) { (self.limit, self.clientLimit) = (limit, clientLimit) }

    /// Adds an element. In a full queue it displaces the newest element of the client that has the most, if that client still has more
    /// elements than this one afterwards.
    /// - Returns: the element that has no place: the new one, the displaced one, or none
    mutating func append(_ element: Element, of client: String) -> Element? {
        let own = elements[client]?.count ?? 0
        guard own < clientLimit else { return element }
        var displaced: Element?
        if count >= limit {
            guard let (longest, waiting) = elements.max(by: { $0.value.count < $1.value.count }), waiting.count > own + 1 else {
                return element
            }
            displaced = elements[longest]?.popLast()
            count -= 1
        }
        if own == 0 { turns.append(client) }
        elements[client, default: []].append(element)
        count += 1
        return displaced
    }

    /// Removes the oldest element of the client that has the next turn.
    mutating func popFirst() -> Element? {
        guard let client = turns.popFirst(), let element = elements[client]?.popFirst() else { return nil }
        count -= 1
        if elements[client]?.isEmpty == true { elements[client] = nil } else { turns.append(client) }
        return element
    }

    mutating func removeFirst(of client: String, where isWanted: (Element) -> Bool) -> Element? {
        guard let index = elements[client]?.firstIndex(where: isWanted) else { return nil }
        let element = elements[client]?.remove(at: index)
        count -= 1
        if elements[client]?.isEmpty == true {
            elements[client] = nil
            turns.removeAll { $0 == client }
        }
        return element
    }
}
