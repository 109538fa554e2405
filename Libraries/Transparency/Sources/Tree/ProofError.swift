public import Hashing

/// What is wrong with a proof, a checkpoint, a note or a key: that it cannot be read, or which part differs from what it should be.
public enum ProofError: Error, Hashable {
    /// A text or a file is not in its format.
    case malformed(subject: String, reason: String)
    /// The note has no signature of the key.
    case unsigned(key: String)
    /// The note has a signature of the key, and the signature is not of this text.
    case wrongSignature(key: String)
    /// The checkpoint is of another log.
    case originDiffers(expected: String, found: String)
    /// The index is not below the size.
    case outsideOfTree(index: Int64, size: Int64)
    /// A way from an entry to the root of such a tree has more hashes, or fewer.
    case wrongNumberOfHashes
    /// The tree of the log is another: one of its entries, or their order.
    case rootDiffers(size: Int64, expected: SHA256.Digest, computed: SHA256.Digest)
    /// A tile of a tree of this size is not there, or it has too few hashes.
    case missingTile(path: String)
}

extension ProofError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let subject, let reason): "\(subject) cannot be read: \(reason)"
        case .unsigned(let key): "the checkpoint has no signature of the key \(key)"
        case .wrongSignature(let key): "the signature of the key \(key) is not one of this checkpoint"
        case .originDiffers(let expected, let found): "the checkpoint is of the log \(found.prefix(255)), not of \(expected)"
        case .outsideOfTree(let index, let size): "the log of \(size) entries has no entry at index \(index)"
        case .wrongNumberOfHashes: "the proof has too many or too few hashes"
        case .rootDiffers(let size, let expected, let computed):
            "the root of the log of \(size) entries is \(computed.base64), and should be \(expected.base64)"
        case .missingTile(let path): "the tree has no complete \(path)"
        }
    }
}
