import Encoding
import Hashing
import Testing

@Suite struct `Signing with Ed25519` {
    struct Vector: Sendable {
        var seed: String
        var publicKey: String
        var message: String
        var signature: String
    }

    /// Source: RFC 8032, section 7.1, tests 1 to 3.
    @Test(arguments: [
        Vector(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
                + "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        Vector(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        Vector(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ])
    func `a published seed has its published public key and signature`(vector: Vector) throws {
        let key = try #require(Ed25519.PrivateKey(seed: Self.bytes(vector.seed)))
        let message = Self.bytes(vector.message)
        #expect(key.publicKey.bytes.hexadecimal == vector.publicKey)
        #expect(key.signature(of: message).hexadecimal == vector.signature)
        #expect(key.publicKey.isValid(Self.bytes(vector.signature), of: message))
    }

    @Test func `a signature is invalid with another message, another key, another bit or another length`() throws {
        let (key, message) = (try Self.key(1), Array("a".utf8))
        let signature = key.signature(of: message)
        #expect(key.publicKey.isValid(signature, of: message))
        #expect(!key.publicKey.isValid(signature, of: "b".utf8))
        #expect(try !Self.key(2).publicKey.isValid(signature, of: message))
        for place in signature.indices {
            var changed = signature
            changed[place] ^= 1
            #expect(!key.publicKey.isValid(changed, of: message), "byte \(place)")
        }
        #expect(!key.publicKey.isValid(signature + [0], of: message))
        #expect(!key.publicKey.isValid(signature.dropLast(), of: message))
        #expect(!key.publicKey.isValid([], of: message))
    }

    @Test func `a key of another length is none, and the keys of two seeds differ`() throws {
        #expect(Ed25519.PrivateKey(seed: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(Ed25519.PublicKey([UInt8](repeating: 1, count: 33)) == nil)
        #expect(try Self.key(1).publicKey != Self.key(2).publicKey)
    }

    @Test func `a description of a private key does not contain its seed`() throws {
        let key = try Self.key(1)
        var dumped = ""
        dump(key, to: &dumped)
        for shown in ["\(key)", String(reflecting: key), dumped] { #expect(!shown.contains("\(key.seed)"), "\(shown)") }
        #expect(Mirror(reflecting: key).children.isEmpty)
    }

    private static func key(_ byte: UInt8) throws -> Ed25519.PrivateKey {
        try #require(Ed25519.PrivateKey(seed: [UInt8](repeating: byte, count: 32)))
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }
}
