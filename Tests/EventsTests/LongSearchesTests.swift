import Encoding
import EventStore
import SpatialIndex
import Synchronization
import TestDatabase
import Testing

@testable import Events

@Suite struct `Long searches of the index` {
    /// A search that ends when it is told to, or after a number of parts.
    private struct Endless: PointSearch {
        final class End: Sendable {
            let isReached = Atomic(false)
            let parts = Atomic(0)
        }

        let end: End
        var rest = Int.max

        mutating func part(visits: Int) -> Int? {
            rest -= 1
            end.parts.add(1, ordering: .relaxed)
            return rest <= 0 || end.isReached.load(ordering: .relaxed) ? visits : nil
        }
    }

    @Test func `a long search is refused while as many as the limit are under way, and a short one is not`() async throws {
        let searches = LongSearches(lanes: 1)
        let ends = (0..<LongSearches.limit).map { _ in Endless.End() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for end in ends { group.addTask { try await searches.finish(Endless(end: end)) } }
            // Each has had its first part and one turn. The sum of all parts would not say so.
            try await eventually { ends.allSatisfy { $0.parts.load(ordering: .relaxed) > 1 } }
            await #expect(throws: SearchesBusyError()) { try await searches.finish(Endless(end: Endless.End(), rest: 1_000)) }
            #expect(try await searches.finish(Endless(end: Endless.End(), rest: 1)) == LongSearches.visitsOfPart)
            for end in ends { end.isReached.store(true, ordering: .relaxed) }
            for try await visits in group { #expect(visits == LongSearches.visitsOfPart) }
        }
        #expect(try await searches.finish(Endless(end: Endless.End(), rest: 3)) == LongSearches.visitsOfPart)
    }

    @Test func `a search of some parts ends while longer searches go on`() async throws {
        let (searches, end) = (LongSearches(lanes: 1), Endless.End())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await searches.finish(Endless(end: end)) } }
            try await eventually { end.parts.load(ordering: .relaxed) > 16 }
            _ = try await searches.finish(Endless(end: Endless.End(), rest: 20))
            end.isReached.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    @Test func `a cancelled search ends`() async throws {
        let (searches, end) = (LongSearches(lanes: 1), Endless.End())
        let task = Task { try await searches.finish(Endless(end: end)) }
        try await eventually { end.parts.load(ordering: .relaxed) > 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.node()) func `searches that are too long for an event loop find the same events in a task, page by page`() async throws
    {
        let (index, window) = (EventIndex(), Self.fill)
        index.apply(window.batch, position: 1)
        let snapshot = index.snapshot
        let view = EventsView(
            snapshot: snapshot, staleFor: nil, tablesMark: 0, longSearches: node.module.longSearches)
        var near = NearestRequest(centre: Coordinates(lat: 10, lon: 20), radius: 20_000, filter: window.narrow, limit: 60)
        var box = BoxRequest(box: .everywhere, filter: window.narrow, limit: 60)
        for count in [60, 41] {
            #expect(view.findImmediately(near) == nil)
            let page = try await view.find(near)
            #expect(page.texts == texts(of: snapshot.search(near).result()))
            #expect(page.count == count)
            near.after = page.next
            #expect(view.findImmediately(box) == nil)
            let boxed = try await view.find(box)
            #expect(boxed.texts == texts(of: snapshot.search(box).result()))
            #expect(boxed.count == count)
            box.after = boxed.nextID
        }
        let across = "bbox=-10,-90,-20,90&zoom=2"
        let clusters = try ClusterRequest(JSON(query: (across + "&from=\(window.from)&to=\(window.to)").utf8))
        #expect(view.findImmediately(clusters) == nil)
        let counted = try await view.find(clusters)
        #expect(counted == EventClusterSearch(clusters, snapshot).result() && !counted.isEmpty)
        // Most searches are short.
        near = NearestRequest(centre: Coordinates(lat: 10, lon: 20), radius: 20_000, limit: 100)
        #expect(view.findImmediately(near)?.count == 100)
    }

    @Test func `a search for a letter with which no word begins reads every leaf, in parts of bounded work`() async throws {
        let index = EventIndex()
        index.apply(Self.fill.batch, position: 1)
        var near = NearestRequest(centre: Coordinates(lat: 10, lon: 20), radius: 20_000, limit: 60)
        for (letter, count) in [("n", 60), ("z", 0)] {
            try near.filter.require(letter)
            let search = index.snapshot.search(near)
            #expect((search.firstPart() == nil) == (count == 0))
            #expect(try await LongSearches().finish(search).count == count)
        }
    }

    @Test func `clusters with a letter count the events of one position while a writer goes on`() async throws {
        let index = EventIndex()
        index.apply(Self.fill.batch, position: 1)
        let request = try ClusterRequest(JSON(query: "bbox=-180,-90,180,90&zoom=2&q=n".utf8))
        async let writes: Void = {
            for number in 60_001...62_000 {
                var batch = EventIndex.Batch()
                let held = HeldEvent(
                    owner: .ann, version: 1, place: EventDetails.at(number).place, json: [], words: Array(" night".utf8))
                batch.put(EventID(rawValue: Int64(number)), held)
                index.apply(batch, position: Int64(number))
                await Task.yield()
            }
        }()
        for _ in 0..<10 {
            let snapshot = index.snapshot
            let clusters = try await LongSearches().finish(EventClusterSearch(request, snapshot))
            #expect(clusters.reduce(0) { $0 + $1.count } == snapshot.count)
        }
        await writes
        #expect(index.snapshot.count == 62_000)
    }

    /// Events of a moment each, at different times, and a window that overlaps a few of them in each leaf.
    private static var fill: (batch: EventIndex.Batch, narrow: EventFilter, from: Timestamp, to: Timestamp) {
        var batch = EventIndex.Batch()
        let first = EventDetails.picnic.startedAt.milliseconds
        for number in 1...60_000 {
            var details = EventDetails.at(number)
            // A prime: neighbours are far apart in time.
            details.startedAt = Timestamp(milliseconds: first + Int64(number * 7_919 % 60_000) * 1_000)
            details.endedAt = details.startedAt
            let held = HeldEvent(
                owner: .ann, version: 1, place: details.place, json: Array("\(number)".utf8), words: Array(" night".utf8))
            batch.put(EventID(rawValue: Int64(number)), held)
        }
        let (from, to) = (Timestamp(milliseconds: first + 30_000_000), Timestamp(milliseconds: first + 30_100_000))
        return (batch, EventFilter(from: from, to: to), from, to)
    }

    private func texts(of page: EventIndex.Page) -> [String] {
        var texts: [String] = []
        page.forEachPayload { texts.append(String(utf8: $0)) }
        return texts
    }
}

extension DegreeBox {
    fileprivate static let everywhere = DegreeBox(south: -90, west: -180, north: 90, east: 180)
}
