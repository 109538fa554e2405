internal import Encoding
internal import EventStore
internal import Foundation
internal import SystemPackage

/// The file that keeps a generated secret: `.env` in the working directory, which git ignores.
enum AppSecretFile {
    /// Generates a secret of 256 random bits, appends it to the file, and gives the file the mode 0600.
    /// - Throws: ``CommandFailure`` if the secret cannot be kept; then the file has its old content
    static func make(at path: String) throws -> String {
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        // A link could lead to a file of another project. Without O_NONBLOCK, opening a named pipe would wait.
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .append, .noFollow, .nonBlocking, .closeOnExec],
                permissions: .ownerReadWrite)
            try file.closeAfter {
                guard try file.stat().type == .regular else { throw failure(path, "it is no ordinary file") }
                guard fchmod(file.rawValue, 0o600) == 0 else { throw Errno(rawValue: errno) }
                try file.append(lines: "TB_APP_SECRET=\(secret)\n")
            }
            return secret
        } catch let error as Errno {
            throw failure(path, error == .tooManySymbolicLinkLevels ? "it is a link" : error.description)
        }
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure("Cannot keep a TB_APP_SECRET in \(path): \(reason)")
    }
}
