import Hashing

@testable import Transparency

/// The eight entries of Google's test vectors for RFC 6962, with their roots and some proofs.
/// Source: certificate-transparency-go, `merkletree/merkle_verifier_test.go`.
enum Vectors {
    static let entries: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57), Array(0x60...0x6F),
    ]

    /// Of the first entry, of the first two, and so on.
    static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    /// An index, a size and the hashes, the lowest first.
    static let inclusion = """
        0 1
        0 8 96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7 5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e 6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4
        5 8 bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0 d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7
        2 3 fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125
        1 5 6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d 5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b
        """.split(separator: "\n").map { line in
            let parts = line.split(separator: " ").map(String.init)
            return (index: Int64(parts[0]) ?? -1, size: Int64(parts[1]) ?? -1, hashes: Array(parts.dropFirst(2)))
        }
}

/// RFC 6962, section 2.1, word by word, over a whole list of leaf hashes.
enum NaiveTree {
    /// Sizes to compare at: all shapes of small trees, and the edges of tiles, which have 256 hashes.
    static let sizes = Array(1...70) + [127, 128, 129, 255, 256, 257, 300, 511, 512, 513]

    static func root(_ leaves: ArraySlice<SHA256.Digest>) -> SHA256.Digest {
        switch leaves.count {
        case 0: return SHA256.hash([])
        case 1: return leaves[leaves.startIndex]
        case _:
            let middle = leaves.startIndex + split(leaves.count)
            return node(root(leaves[..<middle]), root(leaves[middle...]))
        }
    }

    /// Section 2.1.1, PATH.
    static func path(_ index: Int, _ leaves: ArraySlice<SHA256.Digest>) -> [SHA256.Digest] {
        guard leaves.count > 1 else { return [] }
        let k = split(leaves.count)
        let (left, right) = (leaves.prefix(k), leaves.dropFirst(k))
        return index < k ? path(index, left) + [root(right)] : path(index - k, right) + [root(left)]
    }

    private static func split(_ count: Int) -> Int {
        var k = 1
        while k * 2 < count { k *= 2 }
        return k
    }

    private static func node(_ left: SHA256.Digest, _ right: SHA256.Digest) -> SHA256.Digest {
        SHA256.hash([1] + Array(left) + Array(right))
    }
}

func digest(_ hexadecimal: String) -> SHA256.Digest? {
    let digits = Array(hexadecimal)
    return SHA256.Digest(stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) })
}

/// The leaf hashes of the numbers below a count.
func leaves(_ count: Int) -> [SHA256.Digest] { (0..<count).map { MerkleTree.leafHash(of: Array(String($0).utf8)) } }

/// The PEM file of a private key.
func pem(seed: [UInt8]) -> String {
    let prefix: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
    return "-----BEGIN PRIVATE KEY-----\n\((prefix + seed).base64)\n-----END PRIVATE KEY-----\n"
}

extension SigningKey {
    static func random(name: String) throws -> SigningKey {
        try SigningKey(name: name, pem: pem(seed: (0..<32).map { _ in UInt8.random(in: .min ... .max) }))
    }
}
