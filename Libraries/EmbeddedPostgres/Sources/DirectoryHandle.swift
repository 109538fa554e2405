internal import Foundation

/// An open directory. Files in it are read and replaced by their names, and links among them are never followed: the account
/// `postgres` owns the directory, and root must not write elsewhere because of a link that this account made.
final class DirectoryHandle {
    /// At most so much of a file is read, from its end.
    private static let readLimitBytes = 64 * 1024

    private let path: String
    private let descriptor: Int32

    /// - Parameter followsLink: whether the path itself may be a link, to a directory on another disk, say
    /// - Throws: ``EmbeddedPostgresError/fileSystem(doing:path:reason:)``
    init(path: String, followsLink: Bool = true) throws(EmbeddedPostgresError) {
        descriptor = SystemCalls.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        self.path = path
        guard descriptor >= 0 else { throw .fileSystem(doing: "open the directory", path: path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Makes the directory one that only this account can enter.
    func take(for account: Account) throws(EmbeddedPostgresError) {
        let isTaken = account.identity.map { fchown(descriptor, $0.user, $0.group) == 0 } ?? true
        guard isTaken, fchmod(descriptor, 0o700) == 0 else { throw .fileSystem(doing: "prepare", path: path) }
    }

    /// Reads the last 64 KiB of a file.
    /// - Returns: nil if no file has that name
    /// - Throws: ``EmbeddedPostgresError/fileSystem(doing:path:reason:)`` for anything but an ordinary file
    func text(of name: String) throws(EmbeddedPostgresError) -> String? {
        // Without O_NONBLOCK a named pipe would be waited for.
        let file = SystemCalls.open(name, in: descriptor, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", name)
        }
        defer { close(file) }
        guard let status = SystemCalls.status(of: file) else { throw failure("read", name) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .fileSystem(doing: "read", path: "\(path)/\(name)", reason: "it is no ordinary file")
        }
        let start = max(0, Int(status.st_size) - Self.readLimitBytes)
        guard let bytes = SystemCalls.read(file, at: start, count: Self.readLimitBytes) else { throw failure("read", name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces a file as a whole: a reader finds the old text or the new one, after a crash as well.
    /// - Parameter account: to which the file will belong, and to which the directory must belong already
    func replace(_ name: String, with text: String, owner account: Account) throws(EmbeddedPostgresError) {
        guard let status = SystemCalls.status(of: descriptor) else { throw failure("write", name) }
        guard status.st_uid == account.user else {
            throw .fileSystem(doing: "write in", path: path, reason: "the directory does not belong to \(account.name)")
        }
        let temporary = "\(name).new"
        SystemCalls.remove(temporary, in: descriptor)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = SystemCalls.open(temporary, in: descriptor, flags, mode: 0o600)
        guard file >= 0 else { throw failure("write", name) }
        defer { close(file) }
        guard account.identity.map({ fchown(file, $0.user, $0.group) == 0 }) ?? true,
            SystemCalls.write(Array(text.utf8), to: file), fsync(file) == 0,
            SystemCalls.rename(temporary, to: name, in: descriptor) == 0
        else {
            let error = failure("write", name)
            SystemCalls.remove(temporary, in: descriptor)
            throw error
        }
        try synchronise()
    }

    func remove(_ name: String) throws(EmbeddedPostgresError) {
        guard SystemCalls.remove(name, in: descriptor) == 0 else { throw failure("remove", name) }
    }

    /// Brings the names in the directory to the disk.
    func synchronise() throws(EmbeddedPostgresError) {
        guard fsync(descriptor) == 0 else { throw .fileSystem(doing: "synchronise", path: path) }
    }

    private func failure(_ doing: String, _ name: String) -> EmbeddedPostgresError {
        .fileSystem(doing: doing, path: "\(path)/\(name)")
    }
}

extension EmbeddedPostgresError {
    /// Takes the reason from `errno`.
    static func fileSystem(doing: String, path: String) -> EmbeddedPostgresError {
        .fileSystem(doing: doing, path: path, reason: SystemCalls.reason)
    }
}
