internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import SystemPackage

/// The file of a Unix socket. Replaces the file of a server that was killed, and removes its own at the end.
final class SocketFile: Service {
    enum Failure: Error, CustomStringConvertible {
        case isServed(path: String)
        case isNoSocket(path: String)
        case isTooLong(path: String)

        var description: String {
            switch self {
            case .isServed(let path): "Another program listens on HUMON_SOCKET (\(path))."
            case .isNoSocket(let path): "HUMON_SOCKET (\(path)) is a file, and no socket."
            case .isTooLong(let path): "HUMON_SOCKET (\(path)) is too long for a socket."
            }
        }
    }

    let path: String
    private let mode: UInt32
    /// Held from before the bind until the file is removed.
    private let lock: SocketLock
    /// The device and inode of our own file.
    private let own = Mutex<(DeviceID, Inode)?>(nil)

    /// - Throws: ``Failure`` if the path is not usable; ``SocketLock/Unusable`` if the lock beside it is not usable
    init(path: String, mode: UInt32) throws {
        (self.path, self.mode) = (path, mode)
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { throw Failure.isTooLong(path: path) }
        guard let lock = try SocketLock(socket: path) else { throw Failure.isServed(path: path) }
        self.lock = lock
        guard let status = Self.status(of: path) else { return }
        guard status.type == .socket else { throw Failure.isNoSocket(path: path) }
        // Only a refused connection proves that no server listens: any other error can come from missing rights or a full queue.
        if !SystemCalls.isRefused(by: path) { throw Failure.isServed(path: path) }
        SystemCalls.removeFile(path)
    }

    /// Sets the mode. Before this call only the server's own account can connect.
    func permit(logger: Logger) {
        own.withLock { $0 = identity() }
        // Another account that may write to the directory could have created a link there.
        do throws(Errno) { try SystemCalls.setMode(of: path, mode) } catch {
            logger.error("the socket's permissions cannot be set", metadata: ["reason": "\(error)"])
        }
    }

    func run() async throws {
        try? await gracefulShutdown()
        defer { lock.release() }
        // A program that does not know the lock may listen there by now.
        if let own = own.withLock({ $0 }), let current = identity(), own == current { SystemCalls.removeFile(path) }
    }

    private func identity() -> (DeviceID, Inode)? { Self.status(of: path).map { ($0.deviceID, $0.inode) } }

    private static func status(of path: String) -> Stat? { try? FilePath(path).stat(followTargetSymlink: false) }
}
