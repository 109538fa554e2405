internal import Foundation
internal import Synchronization
internal import SystemPackage

/// A lock on the file beside a Unix socket, `humon.sock.lock`. Of two servers that start at the same time, only one gets it. The kernel
/// releases the lock when the process ends, however it ends.
final class SocketLock: Sendable {
    struct Unusable: Error, CustomStringConvertible {
        var path: String
        var reason: String
        var description: String { "Cannot lock \(path), which HUMON_SOCKET needs: \(reason)" }
    }

    /// Another process may remove the file between `open` and `flock`, so the initialiser tries again.
    private static let attempts = 100

    private let path: String
    private let descriptor: Mutex<Int32?>

    /// Returns `nil` if another process holds the lock.
    /// - Throws: ``Unusable`` if the file cannot be created or locked
    init?(socket: String) throws {
        path = socket + ".lock"
        for _ in 0..<Self.attempts {
            let file = try Self.open(path)
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                return nil
            }
            if let locked = try? FileDescriptor(rawValue: file).stat(),
                let named = try? FilePath(path).stat(followTargetSymlink: false),
                (locked.deviceID, locked.inode) == (named.deviceID, named.inode)
            {
                descriptor = Mutex(file)
                return
            }
            close(file)
        }
        throw Unusable(path: path, reason: "other processes remove the file again and again")
    }

    deinit { release() }

    private static func open(_ path: String) throws -> Int32 {
        do {
            return try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .noFollow, .closeOnExec], permissions: .ownerReadWrite
            ).rawValue
        } catch let error as Errno {
            throw Unusable(path: path, reason: error.description)
        }
    }

    /// Also removes the file.
    func release() {
        descriptor.withLock { descriptor in
            guard let file = descriptor else { return }
            descriptor = nil
            SystemCalls.removeFile(path)
            // Closing is not enough: a child process between fork and exec also has the descriptor.
            flock(file, LOCK_UN)
            close(file)
        }
    }
}
