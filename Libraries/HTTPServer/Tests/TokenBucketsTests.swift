import TestChance
import Testing

@testable import HTTPServer

@Suite struct `Filling and emptying token buckets` {
    private static let second: Int64 = 1_000_000_000

    private static func buckets(perMinute: Int, groups: Int = 1) -> TokenBuckets {
        TokenBuckets(limit: perMinute, windowSeconds: 60, groups: groups)
    }

    @Test func `a full bucket grants its tokens at once, and then one token at a time`() {
        var buckets = Self.buckets(perMinute: 3)
        #expect((0..<5).map { _ in buckets.take(7, at: 100 * Self.second) } == [nil, nil, nil, 20, 20])
        #expect(buckets.take(7, at: 119 * Self.second) != nil)
        #expect(buckets.take(7, at: 120 * Self.second) == nil)
        #expect(buckets.take(7, at: 120 * Self.second) != nil)
    }

    @Test func `an empty bucket is full again after a minute, and no fuller after a day`() {
        var buckets = Self.buckets(perMinute: 2)
        for _ in 0..<2 { _ = buckets.take(7, at: 0) }
        for moment in [60, 86_400] {
            let now = Int64(moment) * Self.second
            #expect((0..<3).map { _ in buckets.take(7, at: now) == nil } == [true, true, false])
        }
    }

    @Test func `looking into a bucket takes nothing from it, and each caller has a bucket of its own`() {
        var buckets = Self.buckets(perMinute: 2)
        #expect((0..<5).allSatisfy { _ in buckets.wait(of: 7, at: 0) == nil })
        for _ in 0..<2 { _ = buckets.take(7, at: 0) }
        #expect(buckets.wait(of: 7, at: 0) == 30)
        #expect(buckets.wait(of: 7, at: 30 * Self.second) == nil)
        #expect(buckets.wait(of: 8, at: 0) == nil)
    }

    @Test func `a bucket of a day fills slowly`() {
        var buckets = TokenBuckets(limit: 2, windowSeconds: 86_400, groups: 1)
        #expect((0..<3).map { _ in buckets.take(7, at: 0) == nil } == [true, true, false])
        #expect(buckets.take(7, at: 0) == 43_200)
        #expect(buckets.take(7, at: 43_199 * Self.second) != nil)
        #expect(buckets.take(7, at: 43_200 * Self.second) == nil)
    }

    @Test func `a full table replaces its fullest bucket`() {
        var buckets = Self.buckets(perMinute: 10)
        // The first caller has the emptiest bucket, the last the fullest.
        for key in 1...UInt64(TokenBuckets.placesPerKey) { for _ in key...10 { _ = buckets.take(key, at: 0) } }
        _ = buckets.take(99, at: 0)
        #expect(buckets.take(1, at: 0) != nil)
        let evicted = UInt64(TokenBuckets.placesPerKey)
        #expect((0..<11).map { _ in buckets.take(evicted, at: 0) == nil }.filter(\.self).count == 10)
    }

    /// In any order of requests a caller gets at most a full bucket and the tokens that were added since.
    @Test(arguments: 0..<8) func `a bucket never grants more tokens than it has`(part: Int) {
        var generator = SeededGenerator(seed: 20, part)
        let perMinute = Int.random(in: 1...600, using: &generator)
        var buckets = Self.buckets(perMinute: perMinute, groups: 4)
        var (now, granted): (Int64, [UInt64: Int]) = (0, [:])
        for _ in 0..<2_000 {
            now += Int64.random(in: 0...Self.second / 10, using: &generator)
            let key = UInt64.random(in: 0..<5, using: &generator) << 32 | 1
            if buckets.take(key, at: now) == nil { granted[key, default: 0] += 1 }
        }
        let most = perMinute + Int(Double(now) / 60e9 * Double(perMinute)) + 1
        let least = min(2_000 / 5 / 2, most * 9 / 10)
        #expect(granted.values.allSatisfy { $0 <= most && $0 >= least }, "\(granted), at most \(most), at least \(least)")
    }
}
