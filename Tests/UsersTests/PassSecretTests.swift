import Foundation
import Testing

@testable import Users

@Suite struct `The secret of a pass` {
    @Test(arguments: [(PassKind.transfer, 10), (.recovery, 26), (.calendar, 26)])
    func `a new secret has letters of Crockford's base 32, all of them alike`(kind: PassKind, letters: Int) {
        let secrets = (0..<1_000).map { _ in PassSecret(kind, random: UUID()).text }
        #expect(Set(secrets).count == 1_000 && Set(secrets.map(\.count)) == [letters])
        let counts = Dictionary(secrets.joined().map { ($0, 1) }, uniquingKeysWith: +)
        #expect(String(counts.keys.sorted()) == "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        // Of a fair letter the chance to be so far off is below one in a million.
        let fair = Double(1_000 * letters) / 32
        for (letter, count) in counts { #expect(abs(Double(count) - fair) < 6 * fair.squareRoot(), "\(letter)") }
    }

    @Test func `the same random bits give the same secret`() throws {
        let random = try #require(UUID(uuidString: "7C2F2A5E-0D7B-4B1C-9A53-6F0F8F2F9C11"))
        #expect(PassSecret(.transfer, random: random).text == "FDE75ZMMMZ")
        #expect(PassSecret(.recovery, random: random).text == "FDE75ZMMMZXDYT9XG7MXWDNBV7")
    }

    @Test(arguments: ["7KQ2M01XR4", "7kq2m-01xr4", " 7KQ2M OIXR4 ", "7kq2mol-xr4", "7KQ2M-0LXR4"])
    func `what a person types for the secret is read as the secret`(typed: String) {
        #expect(PassSecret(typed: typed).text == "7KQ2M01XR4")
    }

    @Test func `a description does not contain the secret, and the digest of a typed code needs the pepper`() {
        let secret = PassSecret(typed: "7KQ2M01XR4")
        #expect("\(secret) \(String(reflecting: secret))" == "PassSecret(redacted) PassSecret(redacted)")
        #expect(secret.token.canBeGuessed)
        #expect(!PassSecret(.recovery, random: UUID()).token.canBeGuessed)
    }
}
