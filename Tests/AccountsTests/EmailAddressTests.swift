import Encoding
import EventStore
import Testing

@testable import Accounts

@Suite struct `An e-mail address` {
    @Test(arguments: ["Ann@Example.ORG", "ann@example.org", " ann@example.org\n", "\tANN@EXAMPLE.ORG "])
    func `spellings of one address in upper and lower case and with white space around it are equal`(typed: String) throws {
        #expect(EmailAddress(typed)?.text == "ann@example.org")
        // The most bytes.
        #expect(EmailAddress(String(repeating: "a", count: 249) + "@b.cd") != nil)
    }

    @Test(arguments: [
        "", " ", "ann", "@", "ann@", "@example.org", "ann@@example.org", "ann@b@c", "an n@example.org", "ann@exam\tple.org",
        "\u{E4}nn@example.org", "ann@example.org\0", String(repeating: "a", count: 250) + "@b.cd",
    ])
    func `a text that is not two parts of visible ASCII characters is no address`(typed: String) {
        #expect(EmailAddress(typed) == nil)
    }

    @Test(arguments: ["Ann@example.org", "ann@example.org ", "ann"])
    func `a stored address that is not in normal form is refused`(stored: String) {
        #expect(EmailAddress(stored: stored) == nil)
    }

    @Test func `no description of an address, a password, a token or a hash shows it`() throws {
        let email = try #require(EmailAddress("ann@example.org"))
        let hash = try #require(PasswordHash(stored: PasswordHash.text))
        let secrets: [Any] = [
            email, try #require(Password("correct horse")), AccountToken(secret: "token-1"), hash,
            SignUp(["email": "ann@example.org", "password": "correct horse"]),
            SignIn(["email": "ann@example.org", "password": "correct horse"]),
            AccountDomainEvent.created(try .ann()), AccountDomainEvent.passwordChanged(.present(hash)),
        ]
        for secret in secrets {
            var dumped = ""
            dump(secret, to: &dumped)
            for text in ["\(secret)", String(reflecting: secret), dumped] {
                for part in ["ann@", "correct", "token-1", "$scrypt", firstDigest] { #expect(!text.contains(part), "\(text)") }
            }
        }
    }
}
