import EventStore
import Testing

@testable import Users

@Suite struct `A token cache` {
    private let first = LogGeneration(number: 0)
    private let second = LogGeneration(number: 1)

    @Test func `knows no device at first`() {
        #expect(TokenCache()[device(1), in: first] == nil)
    }

    @Test func `knows the user of a device that was put in`() {
        let cache = TokenCache()
        cache[device(1), in: first] = UserID(rawValue: 7)
        #expect(cache[device(1), in: first] == UserID(rawValue: 7))
        #expect(cache[device(2), in: first] == nil)
    }

    @Test(arguments: 1...4 as ClosedRange<Int64>)
    func `forgets nobody before both generations are full`(number: Int64) {
        let cache = TokenCache(generationLimit: 2)
        remember(1...4, in: cache)
        #expect(known(in: cache, of: [number]) == [number])
    }

    @Test func `forgets the old generation when the young one takes its place`() {
        let cache = TokenCache(generationLimit: 2)
        remember(1...5, in: cache)
        #expect(known(in: cache, of: [5, 1, 2]) == [5])
        #expect(known(in: cache, of: [3]) == [3])
    }

    @Test func `keeps at most twice as many as a generation has`() {
        let cache = TokenCache(generationLimit: 10)
        remember(1...1_000, in: cache)
        #expect(known(in: cache, of: Array(1...980)).isEmpty)
    }

    @Test func `makes a device young again that is asked for`() {
        let cache = TokenCache(generationLimit: 2)
        cache[device(1), in: first] = UserID(rawValue: 1)
        for number in 2...100 as ClosedRange<Int64> {
            cache[device(number), in: first] = UserID(rawValue: number)
            #expect(cache[device(1), in: first] == UserID(rawValue: 1))
        }
    }

    @Test func `pays no regard to nil`() {
        let cache = TokenCache()
        cache[device(1), in: first] = UserID(rawValue: 1)
        cache[device(1), in: first] = nil
        #expect(cache[device(1), in: first] == UserID(rawValue: 1))
    }

    @Test func `forgets all in a later generation of the log, and takes nothing of an earlier one`() {
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
