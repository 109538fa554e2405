import Hashing
import Testing

@testable import Accounts

@Suite struct `A password's hash` {
    private static let weak = Scrypt.weak

    /// Source: RFC 7914, section 12. The key is the first half of the vector.
    @Test func `the hash is the test vector of RFC 7914`() throws {
        let parameters = Scrypt(logCost: 14, blockSize: 8, parallelism: 1)
        let hash = try PasswordHash(
            #require(Password("pleaseletmein")), parameters: parameters, salt: Array("SodiumChloride".utf8))
        #expect(
            hash.stored == "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI")
    }

    @Test func `a hash is stored with its parameters and its salt, and read from the text`() throws {
        let hash = try PasswordHash(
            #require(Password("correct horse")), parameters: Self.weak, salt: Array(repeating: 0, count: 16))
        #expect(hash.stored == PasswordHash.text)
        #expect(PasswordHash(stored: PasswordHash.text) == hash)
    }

    @Test func `a hash matches its password alone, and the empty password is none`() throws {
        let hash = try #require(PasswordHash(stored: PasswordHash.text))
        #expect(try hash.matches(#require(Password("correct horse"))))
        for wrong in ["Correct horse", "correct horse ", "", "\0"] { #expect(try !hash.matches(#require(Password(wrong)))) }
    }

    /// A comparison that is wrong for one key in some hundreds shows here.
    @Test func `of ten thousand wrong passwords none matches`() throws {
        let hash = try #require(PasswordHash(stored: PasswordHash.text))
        for number in 0..<10_000 { #expect(try !hash.matches(#require(Password("wrong \(number)"))), "\(number)") }
    }

    @Test func `a password matches in every Unicode composition`() throws {
        let hash = try PasswordHash(
            #require(Password("caf\u{E9} au lait")), parameters: Self.weak, salt: Array(repeating: 1, count: 16))
        #expect(try hash.matches(#require(Password("cafe\u{301} au lait"))))
    }

    @Test(arguments: [
        "", "correct horse", "$scrypt$ln=4,r=8,p=1$\(salt22)",
        "$argon2id$ln=4,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
        "$scrypt$ln=04,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
        // Bits beyond the last byte.
        "$scrypt$ln=4,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v5",
        // Costs that a server must not pay: no cost, 128 MiB, 17 passes.
        "$scrypt$ln=0,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
        "$scrypt$ln=17,r=8,p=1$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
        "$scrypt$ln=4,r=8,p=17$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
        "$scrypt$ln=99,r=99,p=99$\(salt22)$JfCELMl7b1pl6MB8FZ/l9ZQijZnb3MKoEPvpzK+v+v4",
    ])
    func `another text is no stored hash`(text: String) {
        #expect(PasswordHash(stored: text) == nil)
    }

    @Test func `a new hash takes 32 MiB, and a stored one at most 64 MiB`() {
        #expect(Scrypt.standard == .init(logCost: 15, blockSize: 8, parallelism: 3))
        #expect(Scrypt.standard.memoryBytes == 32 << 20)
        #expect(PasswordHash.memoryLimitBytes == 64 << 20)
        #expect(PasswordHasher.threadLimit == 2)
        #expect((PasswordHasher.queueLimit, PasswordHasher.clientLimit) == (64, 16))
    }

    @Test func `parameters with less memory or less work are weaker`() {
        let current = Scrypt(logCost: 15, blockSize: 8, parallelism: 3)
        #expect(!current.isWeaker(than: current))
        #expect(Scrypt(logCost: 15, blockSize: 8, parallelism: 2).isWeaker(than: current))
        #expect(Scrypt(logCost: 14, blockSize: 8, parallelism: 6).isWeaker(than: current))
        // A server of an earlier release does not go back.
        #expect(!Scrypt(logCost: 16, blockSize: 8, parallelism: 3).isWeaker(than: current))
    }
}
