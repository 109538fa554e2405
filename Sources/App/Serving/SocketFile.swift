internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// The file of a Unix socket: taken over from a server that was killed, and taken away at the end.
struct SocketFile: Service {
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

    /// - Throws: ``Failure`` where the path cannot be had
    init(path: String, mode: UInt32) throws {
        (self.path, self.mode) = (path, mode)
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw Failure.isNoSocket(path: path) }
        if try isServed() { throw Failure.isServed(path: path) }
        unlink(path)
    }

    /// Until then only the server's own account can connect.
    func permit(logger: Logger) {
        guard chmod(path, mode) != 0 else { return }
        logger.error("the socket's permissions cannot be set", metadata: ["reason": "\(String(cString: strerror(errno)))"])
    }

    func run() async throws {
        try? await gracefulShutdown()
        unlink(path)
    }

    private func isServed() throws -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure.isTooLong(path: path) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafeBytes(of: address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0 }
        }
    }
}
