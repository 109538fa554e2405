internal import Encoding
internal import Foundation
internal import SystemPackage

/// The file that keeps a generated secret: `.env` in the working directory, which git ignores.
enum AppSecretFile {
    enum Failure: Error, CustomStringConvertible {
        case notWritable(path: String, reason: String)

        var description: String {
            switch self {
            case .notWritable(let path, let reason): "Cannot keep a TB_APP_SECRET in \(path): \(reason)"
            }
        }
    }

    /// Generates a secret of 256 random bits, appends it to the file, and gives the file the mode 0600.
    /// - Throws: ``Failure`` if the secret cannot be kept; then the file has its old content
    static func make(at path: String) throws -> String {
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        // A link could lead to a file of another project. Without O_NONBLOCK, opening a named pipe would wait.
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, errno == ELOOP ? "it is a link" : nil) }
        defer { close(descriptor) }
        guard let status = try? FileDescriptor(rawValue: descriptor).stat() else { throw failure(path) }
        guard status.type == .regular else { throw failure(path, "it is no ordinary file") }
        let text = Array(((endsInLine(descriptor, off_t(status.size)) ? "" : "\n") + "TB_APP_SECRET=\(secret)\n").utf8)
        guard fchmod(descriptor, 0o600) == 0, write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0 else {
            let failure = failure(path)
            // The next start would take half a secret for a whole one.
            ftruncate(descriptor, off_t(status.size))
            throw failure
        }
        return secret
    }

    private static func endsInLine(_ descriptor: Int32, _ size: off_t) -> Bool {
        var last: UInt8 = 0
        return size == 0 || (pread(descriptor, &last, 1, size - 1) == 1 && last == UInt8(ascii: "\n"))
    }

    /// - Parameter reason: `nil`: the text for `errno`
    private static func failure(_ path: String, _ reason: String? = nil) -> Failure {
        .notWritable(path: path, reason: reason ?? String(cString: strerror(errno)))
    }
}
