internal import Crypto
internal import Foundation

/// Where a secret that nobody set is kept: `.env` in the working directory, which git ignores.
enum AppSecretFile {
    enum Failure: Error, CustomStringConvertible {
        case notWritable(path: String, reason: String)

        var description: String {
            switch self {
            case .notWritable(let path, let reason): "Cannot keep a TB_APP_SECRET in \(path): \(reason)"
            }
        }
    }

    /// Makes a secret of 256 random bits, appends it to the file, and makes the file its owner's alone.
    static func make(at path: String) throws -> String {
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.notWritable(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        let text = (endsInLine(path) ? "" : "\n") + "TB_APP_SECRET=\(secret)\n"
        guard fchmod(descriptor, 0o600) == 0, text.withCString({ write(descriptor, $0, strlen($0)) }) == text.utf8.count else {
            throw Failure.notWritable(path: path, reason: String(cString: strerror(errno)))
        }
        return secret
    }

    private static func endsInLine(_ path: String) -> Bool {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.isEmpty || text.hasSuffix("\n")
    }
}
