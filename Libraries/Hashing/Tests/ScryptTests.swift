import Encoding
import Hashing
import Testing

@Suite struct `Computing scrypt` {
    struct Vector: Sendable {
        var password: String
        var salt: String
        var scrypt: Scrypt
        var key: String
    }

    /// Source: RFC 7914, section 12.
    @Test(arguments: [
        Vector(
            password: "", salt: "", scrypt: Scrypt(logCost: 4, blockSize: 1, parallelism: 1),
            key: "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        Vector(
            password: "password", salt: "NaCl", scrypt: Scrypt(logCost: 10, blockSize: 8, parallelism: 16),
            key: "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        ),
        Vector(
            password: "pleaseletmein", salt: "SodiumChloride", scrypt: Scrypt(logCost: 14, blockSize: 8, parallelism: 1),
            key: "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
        ),
    ])
    func `a published password has its published key`(vector: Vector) throws {
        let key = try vector.scrypt.key(of: vector.password.utf8, salt: Array(vector.salt.utf8), byteCount: 64)
        #expect(key.hexadecimal == vector.key)
    }

    @Test func `the largest cost that fits into the memory of a server is computed`() throws {
        let scrypt = Scrypt(logCost: 16, blockSize: 8, parallelism: 1)
        #expect(scrypt.memoryBytes == 64 << 20)
        #expect(try scrypt.key(of: "a".utf8, salt: [1], byteCount: 32).count == 32)
    }

    @Test(arguments: [
        Scrypt(logCost: 0, blockSize: 8, parallelism: 1), Scrypt(logCost: 16, blockSize: 1, parallelism: 1),
        Scrypt(logCost: 4, blockSize: 0, parallelism: 1), Scrypt(logCost: 4, blockSize: 8, parallelism: 0),
    ])
    func `parameters that the RFC forbids are an error`(scrypt: Scrypt) {
        #expect(throws: ScryptError.self) { try scrypt.key(of: "a".utf8, salt: [1], byteCount: 32) }
    }
}
