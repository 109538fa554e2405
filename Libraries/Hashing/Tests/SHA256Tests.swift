import Encoding
import Hashing
import Testing

@Suite struct `Computing SHA-256` {
    /// Source: NIST, *Secure Hash Standard Validation System*, and FIPS 180-2, appendix B.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `a published text has its published digest`(text: String, digest: String) {
        #expect(SHA256.hash(text.utf8).hexadecimal == digest)
        #expect(SHA256.hash(Array(text.utf8).lazy.map { $0 }).hexadecimal == digest)
    }

    @Test func `digests that differ in one bit are not equal`() {
        let digest = SHA256.hash("a".utf8)
        #expect(digest == SHA256.hash("a".utf8))
        #expect(digest != SHA256.hash("b".utf8))
        #expect(digest.count == 32)
        #expect(Set([digest, SHA256.hash("a".utf8)]).count == 1)
    }
}
