import Foundation
import Postgres
import Testing

@testable import EventStore

@Suite(.store) struct `Appending under a condition` {
    private static func append(
        _ counter: String, id: UUID = UUID(), while other: String, endsWith last: UUID
    ) -> AppendRequest {
        var append = AppendRequest.counting(counter, after: 0, id: id)
        append.conditions = [AppendCondition(stream: StreamName(category: Counted.category, key: other), lastID: last)]
        return append
    }

    @Test func `an append meets several conditions, and names the one that fails`() async throws {
        let last = UUID()
        _ = try await store.log.record(.counting("user", after: 0, id: last))
        var append = Self.append("a", while: "user", endsWith: last)
        append.conditions.append(AppendCondition(stream: StreamName("counter-other"), lastID: last))
        #expect(try await store.log.append(append) == .failedCondition(append.conditions[1]))
        append.conditions.removeLast()
        let first = try await store.log.record(append)
        #expect((first.position, first.isRepeat) == (2, false))
        // A repetition gets the first result while the condition holds, and is refused afterwards.
        let again = try await store.log.record(append)
        #expect((again.place, again.isRepeat) == (first.place, true))
        _ = try await store.log.record(.counting("user", after: 1))
        #expect(try await store.log.append(append) == .failedCondition(append.conditions[0]))
    }

    @Test func `no append stands behind the event that ended its condition`() async throws {
        let last = UUID()
        _ = try await store.log.record(.counting("user", after: 0, id: last))
        let results = try await gather(200) { number in
            number == 20
                ? try await store.log.record(.counting("user", after: 1))
                : try await store.log.record(Self.append("\(number)", while: "user", endsWith: last))
        }
        let end = try #require(results.appended.first { $0.stream.key == "user" })
        #expect(results.appended.allSatisfy { $0.position <= end.position })
        #expect(try await store.reader.tail() == end.position)
        #expect(results.count - results.appended.count == 200 - Int(end.position - 1))
    }
}
