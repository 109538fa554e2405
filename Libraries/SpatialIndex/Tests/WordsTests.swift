import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `Searching words in the index` {
    private static let place = PointIndex.Location(latitude: 52.52, longitude: 13.405)
    private static let earth = DegreeBox(south: -90, west: -180, north: 90, east: 180)

    private static func query(_ beginnings: String, category: String? = nil) -> PointIndex.WordQuery? {
        PointIndex.WordQuery(beginnings: Array(beginnings.utf8), category: category)
    }

    /// An index of points in one place, with the ids 1, 2 and so on.
    private static func index(_ words: [String]) -> PointIndex {
        var batch = PointIndex.Batch()
        for (id, words) in words.enumerated() {
            batch.put(Int64(id + 1), version: 1, at: place, payload: "chess".utf8, words: Array(words.utf8))
        }
        let index = PointIndex()
        index.apply(batch, position: 1)
        return index
    }

    private static func put(_ id: Int64, _ words: String, version: Int32, in index: PointIndex) {
        var batch = PointIndex.Batch()
        batch.put(id, version: version, at: place, payload: "".utf8, words: Array(words.utf8))
        index.apply(batch, position: Int64(version))
    }

    private static func ids(_ index: PointIndex, _ beginnings: String, category: String? = nil) -> [Int64] {
        let query = BoxQuery(box: earth, limit: 1_000, words: query(beginnings, category: category))
        return index.snapshot.search(query).result().ids
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `searches with words find the same points as a full scan, after batches and bulk loads`(spread: PointWorld.Spread) throws
    {
        var world = PointWorld(spread, seed: 101)
        let index = PointIndex()
        for round in 0..<10 {
            // The first points have no words, and so have some of the last.
            world.vocabulary = [0, 5].contains(round) ? [] : PointWorld.words
            // Growth splits nodes, and removals join them.
            let removals = round < 6 ? 15 : 85
            index.apply(world.batch(of: round < 2 ? 2_000 : 200, ids: 2_000, removalPercent: removals), position: Int64(round))
            if round == 4 || round == 8 {
                var bulkLoad = world.bulkLoad
                index.fill(from: &bulkLoad, position: Int64(round))
            }
            try world.expectWords(in: index.snapshot)
        }
    }

    @Test func `a beginning reaches neither into the next word nor into the next point`() {
        let index = Self.index([" che", " ss", " park chess", "", " ches s", " sche", " chess"])
        #expect(Self.ids(index, " chess") == [3, 7])
        #expect(Self.ids(index, " ches") == [3, 5, 7])
        #expect(Self.ids(index, " che") == [1, 3, 5, 7])
        #expect(Self.ids(index, " s") == [2, 5, 6])
        #expect(Self.ids(index, " chess ss") == [])
        #expect(Self.ids(index, " s ches") == [5])
        #expect(Self.ids(index, " chess chess che") == [3, 7])
        #expect(Self.ids(index, " chesss") == [])
    }

    @Test(arguments: ["a", "é", "東", "👩", "ᄒ"])
    func `words of one to six scalars are found by each of their beginnings, and by nothing longer`(scalar: String) {
        let words = (1...6).map { String(repeating: scalar, count: $0) }
        let index = Self.index(words.map { " " + $0 } + [" b", ""])
        for count in 1...6 { #expect(Self.ids(index, " " + words[count - 1]) == Array(Int64(count)...6)) }
        #expect(Self.ids(index, " " + words[5] + scalar) == [])
        #expect(Self.ids(index, " b") == [7])
    }

    @Test func `a category is found by its whole name only, and neither by a text nor as a text`() {
        func word(_ category: String) -> String { String(decoding: PointIndex.word(ofCategory: category), as: UTF8.self) }
        let index = Self.index([" art", " chess" + word("art"), word("art"), word("arts"), " arts" + word("music"), ""])
        #expect(Self.ids(index, "", category: "art") == [2, 3])
        #expect(Self.ids(index, "", category: "arts") == [4])
        #expect(Self.ids(index, " che", category: "art") == [2])
        #expect(Self.ids(index, " ar", category: "music") == [5])
        #expect(Self.ids(index, " art") == [1, 5])
        #expect(Self.ids(index, "", category: "ar") == [])
    }

    @Test func `a query without words and category is none`() {
        #expect(Self.query("") == nil)
        #expect(Self.query("  ") == nil)
        #expect(Self.ids(Self.index(["", " a"]), "") == [1, 2])
    }

    @Test func `the first words among points without words are found`() {
        let index = Self.index(["", "", ""])
        #expect(Self.ids(index, " chess") == [])
        Self.put(2, " chess", version: 2, in: index)
        #expect(Self.ids(index, " chess") == [2])
    }

    @Test func `a point with other words is found by these, and earlier snapshots find the words of their time`() {
        let index = Self.index([" chess", " music"])
        func put(_ words: String, version: Int32) { Self.put(1, words, version: version, in: index) }
        let first = index.snapshot
        put(" dance", version: 2)
        #expect(Self.ids(index, " chess") == [])
        #expect(Self.ids(index, " dance") == [1])
        #expect(index.snapshot.entry(1)?.words == Array(" dance".utf8))
        put("", version: 3)
        #expect(Self.ids(index, " dance") == [])
        #expect(Self.ids(index, " music") == [2])
        var batch = PointIndex.Batch()
        batch.remove(2)
        index.apply(batch, position: 4)
        #expect(Self.ids(index, " music") == [])
        let query = BoxQuery(box: Self.earth, limit: 10, words: Self.query(" chess"))
        #expect(first.search(query).result().ids == [1])
    }

    @Test func `the signature of 64 leaves has the bit of each leaf with a word, and few others`() {
        var (blocks, generator) = (RetiredBlocks(), SeededGenerator(seed: 103))
        let words = (0..<64).map { _ in (0..<40).map { _ in " \(String(generator.next() | 1 << 63, radix: 36))" } }
        let leaves = words.enumerated().map { leaf, words in
            var batch = PointIndex.Batch()
            for (id, word) in words.enumerated() {
                batch.put(Int64(id), version: 1, at: Self.place, payload: "".utf8, words: Array("\(word) market street".utf8))
            }
            return batch.texts.withColumn { texts in
                let rows = batch.changes.compactMap { change in change.row.map { Leaf.Row(change.id, $0, texts: texts) } }
                return Child(rows, low: LeafKey(cell: OctreeCell(number: UInt64(leaf)), id: 0), &blocks)
            }
        }
        let node = InnerNode(leaves, &blocks)
        var others = 0
        for (leaf, words) in words.enumerated() {
            for word in words {
                guard let query = Self.query(word + " mark") else { continue }
                let candidates = node.candidates(for: query)
                #expect(candidates >> UInt64(leaf) & 1 == 1)
                others += candidates.nonzeroBitCount - 1
            }
        }
        // Of 64 · 40 words and 63 other leaves.
        #expect(others < 64 * 40, "\(others)")
        #expect(Self.query(" mars").map(node.candidates) != .max)
        #expect(Self.query(" 東").map(node.candidates) != .max)
        #expect(Self.query(" m").map(node.candidates) == .max)
    }

    @Test func `the work of a part of a search is bounded also for long words and many beginnings`() {
        // 16 leaves of 64 KB, in which eight beginnings are sought.
        let long = (0..<100).map { " ship\($0)\(String(repeating: "p", count: 4))" }.joined()
        let index = Self.index(Array(repeating: String(long.prefix(1_000)), count: 1_024))
        let words = Self.query((0..<8).map { " ship\($0)" }.joined())
        func parts(_ search: some PointSearch) -> Int {
            var (search, parts) = (search, 1)
            while search.part(visits: 100) == nil { parts += 1 }
            return parts
        }
        let snapshot = index.snapshot
        #expect(parts(snapshot.search(BoxQuery(box: Self.earth, limit: 1_000, words: words))) > 10)
        #expect(parts(snapshot.search(ClusterQuery(box: Self.earth, latitudes: [], longitudes: [], words: words))) > 10)
        let nearest = NearestQuery(
            centre: UnitVector(latitude: 1, longitude: 2), squaredChord: 4, limit: 2_000, words: words)
        #expect(parts(snapshot.search(nearest)) > 10)
        #expect(parts(snapshot.search(BoxQuery(box: Self.earth, limit: 1_000))) < 10)
    }

    @Test func `words cost their bytes and about as many for each point as the parts of a leaf need`() {
        var world = PointWorld(.clustered, seed: 104)
        func bytes() -> (each: Int, words: Int) {
            let index = PointIndex()
            var bulkLoad = world.bulkLoad
            index.fill(from: &bulkLoad, position: 1)
            let snapshot = index.snapshot
            return (snapshot.bytes / snapshot.count, world.points.values.reduce(0) { $0 + $1.words.utf8.count } / snapshot.count)
        }
        _ = world.batch(of: 30_000, ids: 20_000, removalPercent: 0)
        let before = bytes()
        world.vocabulary = ["market", "street", "springfield", "evening", "chess"]
        _ = world.batch(of: 100_000, ids: 20_000, removalPercent: 0)
        let after = bytes()
        #expect(after.each - before.each - after.words < 20, "\(before) \(after)")
    }

    /// Every batch gives all points the words of its position.
    @Test func `concurrent readers see the words of whole batches only`() async throws {
        let index = PointIndex()
        let (points, last) = (Int64(300), Int64(60))
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    var snapshot = index.snapshot
                    while snapshot.position < last {
                        snapshot = index.snapshot
                        for (beginnings, remainder) in [(" ches", Int64(0)), (" musi", 1)] where snapshot.position > 0 {
                            let query = BoxQuery(box: Self.earth, limit: 1_000, words: Self.query(beginnings))
                            let expected = snapshot.position % 2 == remainder ? Array(1...points) : []
                            #expect(snapshot.search(query).result().ids == expected)
                        }
                        await Task.yield()
                    }
                }
            }
            for position in 1...last {
                var batch = PointIndex.Batch()
                for id in 1...points {
                    batch.put(
                        id, version: Int32(position), at: Self.place, payload: "".utf8,
                        words: Array((position.isMultiple(of: 2) ? " chess \(id)" : " \(id) music").utf8))
                }
                index.apply(batch, position: position)
                await Task.yield()
            }
        }
    }
}

extension PointWorld {
    /// Words that begin alike, of one to many scalars of one to four bytes, and two categories.
    static let words = [
        "a", "ab", "abc", "abcd", "abcde", "abx", "b", "ba", "chess", "cheese", "market", "12", "é", "éa", "éab", "шах",
        "шахматы",
        "東", "京", "👩", "👩👩", "한", "하", String(repeating: "long", count: 12), "=art=", "=arts=",
    ]

    /// One to three beginnings, mostly of words that points have.
    private mutating func beginnings() -> [String] {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            let word = Self.words[Int.random(in: 0..<Self.words.count, using: &generator)]
            let beginning = String(word.unicodeScalars.prefix(Int.random(in: 1...5, using: &generator)))
            return generator.happens(inPercent: 10) ? beginning + "z" : beginning
        }
    }

    private func has(_ beginnings: [String], _ id: Int64) -> Bool {
        let words = points[id]?.words.utf8.split(separator: UInt8(ascii: " ")) ?? []
        return beginnings.allSatisfy { beginning in words.contains { $0.starts(with: beginning.utf8) } }
    }

    /// Compares searches of all kinds with a full scan, in one part and in many, and the signatures with those of new nodes.
    mutating func expectWords(in snapshot: PointIndex.Snapshot, searches: Int = 6) throws {
        try #require(points.allSatisfy { snapshot.entry($0)?.words == Array($1.words.utf8) })
        for _ in 0..<searches {
            let beginnings = beginnings()
            let words = PointIndex.WordQuery(beginnings: beginnings.flatMap { Array(" \($0)".utf8) })
            let window = generator.happens(inPercent: 50) ? window() : nil
            let limit = Int.random(in: 1...300, using: &generator)
            func isWanted(_ id: Int64) -> Bool {
                has(beginnings, id) && (window.map { points[id]?.location.span.overlaps($0) ?? false } ?? true)
            }
            let (centre, radius) = (place(), radius())
            var near = NearestQuery(centre: centre, radius: radius, limit: limit)
            (near.window, near.words) = (window, words)
            let nearest = everyone(within: radius, of: centre).filter { isWanted($0.id) }
            var page = snapshot.search(near).inParts(of: 3)
            try #require(page.ids == nearest.prefix(limit).map(\.id), "\(beginnings) \(near)")
            near.after = page.next
            page = snapshot.search(near).result()
            try #require(near.after == nil || page.ids == nearest.dropFirst(limit).prefix(limit).map(\.id), "\(beginnings)")

            let box = box()
            let boxed = ids(in: box, window).filter { has(beginnings, $0) }
            var inBox = BoxQuery(box: box, window: window, limit: limit, words: words)
            var found = snapshot.search(inBox).inParts(of: 3)
            try #require(found.ids == Array(boxed.prefix(limit)), "\(beginnings) \(inBox)")
            inBox.after = found.nextID
            found = snapshot.search(inBox).result()
            try #require(inBox.after == nil || found.ids == Array(boxed.dropFirst(limit).prefix(limit)), "\(beginnings)")

            guard box.west <= box.east else { continue }
            let cells = ClusterQuery(box: box, window: window, latitudes: [-20, 0, 40], longitudes: [-50, 0, 90], words: words)
            let clusters = snapshot.search(cells).inParts(of: 3)
            try #require(clusters.reduce(0) { $0 + $1.count } == boxed.count, "\(beginnings) \(cells)")
            try #require(clusters == snapshot.search(cells).result())
        }
        try expectSignatures(in: snapshot)
    }

    private func expectSignatures(in snapshot: PointIndex.Snapshot) throws {
        for node in snapshot.root.nodes.flatMap({ Array($0.nodes) }) {
            var blocks = RetiredBlocks()
            let children = (0..<node.count).map { Child(node: node.node($0), low: node.lows[$0], bounds: node.bounds($0)) }
            let new = InnerNode(children, &blocks)
            defer { new.block.free() }
            let isEqual = (0..<WordHashes.count).allSatisfy { slice in
                (node.slices.count == 0 ? 0 : node.slices[slice]) == (new.slices.count == 0 ? 0 : new.slices[slice])
            }
            try #require(isEqual)
        }
    }
}

extension PointSearch {
    fileprivate func inParts(of visits: Int) -> Result {
        var search = self
        while true { if let result = search.part(visits: visits) { return result } }
    }
}
