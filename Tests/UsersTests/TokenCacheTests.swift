import EventStore
import Testing

@testable import Users

@Suite struct `Caching device tokens` {
    private let first = LogGeneration(number: 0)
    private let second = LogGeneration(number: 1)

    @Test func `an empty token cache finds no user`() {
        #expect(TokenCache()[device(1), in: first] == nil)
    }

    @Test func `the token cache finds the user of a stored device`() {
        let cache = TokenCache()
        cache[device(1), in: first] = UserID(rawValue: 7)
        #expect(cache[device(1), in: first] == UserID(rawValue: 7))
        #expect(cache[device(2), in: first] == nil)
    }

    @Test(arguments: 1...4 as ClosedRange<Int64>)
    func `the token cache drops no device before both generations are full`(number: Int64) {
        let cache = TokenCache(generationLimit: 2)
        remember(1...4, in: cache)
        #expect(known(in: cache, of: [number]) == [number])
    }

    @Test func `the token cache drops the old generation when the young one is full`() {
        let cache = TokenCache(generationLimit: 2)
        remember(1...5, in: cache)
        #expect(known(in: cache, of: [5, 1, 2]) == [5])
        #expect(known(in: cache, of: [3]) == [3])
    }

    @Test func `the token cache holds at most two generations of devices`() {
        let cache = TokenCache(generationLimit: 10)
        remember(1...1_000, in: cache)
        #expect(known(in: cache, of: Array(1...980)).isEmpty)
    }

    @Test func `a lookup moves a device to the young generation`() {
        let cache = TokenCache(generationLimit: 2)
        cache[device(1), in: first] = UserID(rawValue: 1)
        for number in 2...100 as ClosedRange<Int64> {
            cache[device(number), in: first] = UserID(rawValue: number)
            #expect(cache[device(1), in: first] == UserID(rawValue: 1))
        }
    }

    @Test func `the token cache ignores nil`() {
        let cache = TokenCache()
        cache[device(1), in: first] = UserID(rawValue: 1)
        cache[device(1), in: first] = nil
        #expect(cache[device(1), in: first] == UserID(rawValue: 1))
    }

    @Test func `a later log generation empties the token cache, and entries of an earlier one are ignored`() {
        let cache = TokenCache()
        cache[device(1), in: first] = UserID(rawValue: 1)
        #expect(cache[device(1), in: second] == nil)
        cache[device(2), in: second] = UserID(rawValue: 2)
        cache[device(1), in: first] = UserID(rawValue: 1)
        #expect(cache[device(1), in: second] == nil)
        #expect(cache[device(1), in: first] == nil)
        #expect(cache[device(2), in: second] == UserID(rawValue: 2))
    }

    private func device(_ number: Int64) -> DeviceDigest { DeviceToken(secret: "device \(number)").digest }

    private func remember(_ numbers: ClosedRange<Int64>, in cache: TokenCache) {
        for number in numbers { cache[device(number), in: first] = UserID(rawValue: number) }
    }

    private func known(in cache: TokenCache, of numbers: [Int64]) -> [Int64] {
        numbers.filter { cache[device($0), in: first] == UserID(rawValue: $0) }
    }
}
