import TestChance
import Testing

@testable import Events

@Suite struct `Writing and reading a search cursor` {
    @Test func `a cursor of any place reads back bit by bit, and its text needs no escaping`() throws {
        let pinned = NearestRequest.Cursor(squaredChord: 3.5, id: EventID(rawValue: 12))
        #expect(pinned.description == "400c000000000000-12")
        var generator = SeededGenerator(seed: 11)
        let edges = [0, .leastNormalMagnitude, 3.5e-8, 2, 4, 4.1]
        for squaredChord in edges + (0..<5_000).map({ _ in Double.random(in: 0...4, using: &generator) }) {
            let cursor = NearestRequest.Cursor(
                squaredChord: squaredChord,
                id: EventID(rawValue: Int64.random(in: 0 ... .max, using: &generator))
            )
            try #require(NearestRequest.Cursor(cursor.description) == cursor)
        }
    }

    @Test(arguments: [
        "", "-", "12", "-12", "400c000000000000", "400c000000000000-", "400c000000000000-x", "400c000000000000-12-1",
        "400c000000000000--1", "400c000000000000-9223372036854775808", "10000000000000000-1", "3.5-12", "400c000000000000-12 ",
        " 400c000000000000-12",
    ])
    func `a text that is not a cursor is refused`(text: String) {
        #expect(NearestRequest.Cursor(text) == nil)
        // An impossible distance.
        for squaredChord in [-1, 4.2, .infinity, -.infinity, .nan, .signalingNaN, -.leastNormalMagnitude] as [Double] {
            #expect(NearestRequest.Cursor("\(String(squaredChord.bitPattern, radix: 16))-12") == nil)
        }
    }
}
