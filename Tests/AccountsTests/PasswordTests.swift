import Encoding
import TestChance
import Testing

@testable import Accounts

@Suite struct `The length of a password` {
    /// The marks of two classes take turns, so that their composition sorts them.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{301}\u{316}", count: count / 2)
    }

    @Test func `a password of 256 composed characters is one in every composition`() throws {
        let composed = try #require(Password(String(repeating: "\u{1F82}", count: 256)))
        // Each character decomposes into four scalars, the most that there are.
        let decomposed = try #require(Password(String(repeating: "\u{3B1}\u{313}\u{300}\u{345}", count: 256)))
        #expect(decomposed.utf8 == composed.utf8)
        #expect(decomposed.length == 256)
        #expect(Password(String(repeating: "\u{3B1}\u{313}\u{300}\u{345}", count: 256) + "a") == nil)
    }

    @Test(arguments: [
        String(repeating: "a", count: 257), String(repeating: "\u{1F600}", count: 257), marks(1_024), marks(32_000),
        String(repeating: "a", count: 4_097),
    ])
    func `a longer text is no password`(text: String) {
        #expect(Password(text) == nil)
    }

    @Test func `32,000 combining marks are refused before they are composed`() {
        let fields: JSON = ["email": "ann@example.org", "password": .string(Self.marks(32_000))]
        // One composition of them takes at least a tenth of a second.
        let elapsed = processorTime {
            for _ in 0..<100 {
                #expect(SignIn(fields).password == nil)
                #expect(throws: AccountRejection.self) { try SignUp(fields).validated() }
            }
        }
        #expect(elapsed < .seconds(5))
    }
}
